// The one table of MongoDB error codes and their names. It stands beside errors.ts, which holds the
// statuses of the REST face: the two faces share no code, number or text (decision 0030).

export const mongoCodes = {
  InternalError: 1,
  BadValue: 2,
  GraphContainsCycle: 5,
  HostUnreachable: 6,
  HostNotFound: 7,
  FailedToParse: 9,
  UserNotFound: 11,
  Unauthorized: 13,
  TypeMismatch: 14,
  Overflow: 15,
  InvalidLength: 16,
  ProtocolError: 17,
  AuthenticationFailed: 18,
  IllegalOperation: 20,
  InvalidBSON: 22,
  NamespaceNotFound: 26,
  IndexNotFound: 27,
  PathNotViable: 28,
  RoleNotFound: 31,
  ConflictingUpdateOperators: 40,
  CursorNotFound: 43,
  NoMatchingDocument: 47,
  NamespaceExists: 48,
  MaxTimeMSExpired: 50,
  DollarPrefixedFieldName: 52,
  InvalidIdField: 53,
  EmptyFieldName: 56,
  DottedFieldName: 57,
  CommandNotFound: 59,
  ShardKeyNotFound: 61,
  WriteConcernTimeout: 64,
  ImmutableField: 66,
  CannotCreateIndex: 67,
  InvalidOptions: 72,
  InvalidNamespace: 73,
  NoReplicationEnabled: 76,
  UnknownReplWriteConcern: 79,
  IndexOptionsConflict: 85,
  IndexKeySpecsConflict: 86,
  OperationFailed: 96,
  NetworkTimeout: 89,
  ShutdownInProgress: 91,
  UnsatisfiableWriteConcern: 100,
  WriteConflict: 112,
  CommandNotSupported: 115,
  DocumentValidationFailure: 121,
  CommandFailed: 125,
  CappedPositionLost: 136,
  ExceededMemoryLimit: 146,
  ViewDepthLimitExceeded: 165,
  CommandNotSupportedOnView: 166,
  OptionNotSupportedOnView: 167,
  InvalidPipelineOperator: 168,
  CannotIndexParallelArrays: 171,
  AmbiguousIndexKeyPattern: 181,
  InvalidIndexSpecificationOption: 197,
  PrimarySteppedDown: 189,
  NoSuchSession: 206,
  FailPointSetFailed: 213,
  IllegalOpMsgFlag: 223,
  QueryFeatureNotAllowed: 224,
  TransactionTooOld: 225,
  NotImplemented: 238,
  ConversionFailure: 241,
  TransactionAborted: 244,
  NoSuchTransaction: 251,
  TransactionCommitted: 256,
  InvalidResumeToken: 260,
  ExceededTimeLimit: 262,
  OperationNotSupportedInTransaction: 263,
  ChangeStreamFatalError: 280,
  ChangeStreamHistoryLost: 286,
  TransactionExceededLifetimeLimitSeconds: 290,
  QueryExceededMemoryLimitNoDiskUseAllowed: 292,
  APIVersionError: 322,
  APIStrictError: 323,
  APIDeprecationError: 324,
  MechanismUnavailable: 334,
  UnsupportedOpQueryCommand: 352,
  SocketException: 9001,
  NotWritablePrimary: 10107,
  BSONObjectTooLarge: 10334,
  DuplicateKey: 11000,
  CursorInUse: 12051,
  InterruptedAtShutdown: 11600,
  Interrupted: 11601,
  InterruptedDueToReplStateChange: 11602,
  MergeStageNoMatchingDocument: 13113,
  DatabaseDifferCase: 13297,
  NotPrimaryNoSecondaryOk: 13435,
  NotPrimaryOrSecondary: 13436,
  TooManyRequests: 16500,
} as const;

export type MongoCodeName = keyof typeof mongoCodes;

/** An expected failure of the MongoDB face or language, as it goes to the client. */
export class MongoError extends Error {
  readonly code: number;
  readonly codeName: string;

  constructor(code: number, codeName: string, text: string) {
    super(text);
    this.code = code;
    this.codeName = codeName;
  }
}

export function mongoFailure(name: MongoCodeName, text: string): MongoError {
  return new MongoError(mongoCodes[name], name, text);
}

export function codeNameOf(code: number): string {
  return Object.entries(mongoCodes).find(([, each]) => each === code)?.[0] ?? `Location${code}`;
}

/** Failures that the server knows by number only; the number is what clients and tests look at. */
export function mongoLocation(code: number, text: string): MongoError {
  return new MongoError(code, `Location${code}`, text);
}
