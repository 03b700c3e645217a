// The one error table: every expected failure, with its HTTP status, Cosmos sub-status and text.
// It lives in the leftmost room because every other room refuses things (docs/decisions/0003).

interface ErrorKind {
  readonly status: number;
  readonly subStatus: number;
  /**
   * Texts of the storage layer travel inside `Message: {"Errors":[…]}`; those of the gateway do
   * not.
   */
  readonly wrapped: boolean;
  readonly text: string;
}

const gateway = <T extends string>(status: number, text: T, subStatus = 0) =>
  ({ status, subStatus, wrapped: false, text }) as const;
const backend = <T extends string>(status: number, text: T, subStatus = 0) =>
  ({ status, subStatus, wrapped: true, text }) as const;

export const errorTable = {
  // 400: the request itself
  invalidInput: gateway(400, 'One of the input values is invalid. {why}'),
  invalidPath: gateway(400, 'The request path {path} is invalid.'),
  invalidRid: gateway(400, "Failed to parse the value '{value}' as ResourceId."),
  invalidHeader: gateway(
    400,
    "Value '{value}' specified for the header '{header}' is invalid. {why}",
  ),
  invalidVersion: gateway(
    400,
    "Invalid API version. Ensure a valid x-ms-version header value is passed. Please update to the latest version of Azure Cosmos DB SDK. Got '{value}'.",
  ),
  invalidPageSize: gateway(
    400,
    'The input PageSize {value} is invalid. Ensure to pass a valid page size which must be a positive integer or -1 for a dynamic page size.',
  ),
  invalidContinuation: gateway(400, 'Invalid Continuation Token'),
  outsideRetention: gateway(400, 'You must read the change feed from within the retention period.'),
  versionsNotKept: gateway(
    400,
    'The change feed of all versions and deletes needs a container that keeps them: set changeFeedPolicy.retentionDuration of the container to a number of minutes.',
  ),
  invalidSessionToken: gateway(400, "The session token provided '{value}' is invalid."),
  consistencyTooStrong: gateway(
    400,
    'ConsistencyLevel {asked} specified in the request is invalid when service is configured with consistency level {configured}. Ensure the request consistency level is not stronger than the service consistency level.',
  ),
  invalidJson: gateway(
    400,
    'The request payload is invalid. Ensure to provide a valid request payload. {why}',
  ),
  missingProperty: gateway(
    400,
    "The input content is invalid because the required properties - '{name}; ' - are missing",
  ),
  nameInvalidCharacter: gateway(
    400,
    "The resource name presented contains invalid character '{character}'.",
  ),
  nameEndsWithSpace: gateway(400, "The resource name can't end with space."),
  nameInvalid: gateway(
    400,
    "The input name '{name}' is invalid. Ensure to provide a unique non-empty string less than '{limit}' characters.",
  ),
  batchTooLong: gateway(
    400,
    'Batch request has more operations than what is supported: {count}, the maximum is {limit}.',
  ),
  notSupported: gateway(400, '{what} is not supported by this version of Mayfly. {hint}'),
  orderByExcluded: backend(
    400,
    "The index path corresponding to the specified order-by item is excluded. The path is '{path}'.",
  ),
  orderByComposite: backend(
    400,
    'The order by query does not have a corresponding composite index that it can be served from.',
  ),
  queryInvalid: gateway(400, 'Message: {errors}'),
  queryFeaturesMissing: gateway(
    400,
    'Query contains 1 or more unsupported features. Upgrade your SDK to a version that does support the requested features: {features}.',
  ),
  wrongContainerRid: gateway(
    400,
    "The container's resource id is '{actual}', not '{intended}' as the request intended: it was deleted and created again.",
    1024,
  ),

  // 400: partition keys
  partitionKeyMissing: gateway(400, 'PartitionKey value must be supplied for this operation.'),
  partitionKeyMalformed: gateway(400, "Cannot deserialize PartitionKey value '{value}'"),
  partitionKeyUnsupported: gateway(
    400,
    "Unsupported PartitionKey value component '{value}'. Numeric, string, bool, null, Undefined are the only supported types.",
  ),
  partitionKeyTooFew: gateway(
    400,
    'PartitionKey has fewer components than defined the collection resource.',
  ),
  partitionKeyTooMany: gateway(
    400,
    'PartitionKey has more components than defined the collection resource.',
  ),
  partitionKeyMismatch: backend(
    400,
    "PartitionKey extracted from document doesn't match the one specified in the header",
    1001,
  ),
  partitionKeyTooLong: backend(
    400,
    'Partition key has {bytes} bytes; the maximum is {limit} bytes for this container.',
  ),
  rangeIdInvalid: gateway(
    400,
    "x-ms-documentdb-partitionkeyrangeid header contains invalid value '{value}'.",
  ),

  // 400: items and containers
  ttlInvalid: backend(
    400,
    "The input ttl '{value}' is invalid. Ensure to provide a nonzero positive integer less than or equal to '2147483647', or '-1' which means never expire.",
  ),
  defaultTtlInvalid: backend(
    400,
    "The input defaultTtl '{value}' is invalid. Ensure to provide a nonzero positive integer less than or equal to '2147483647', or '-1' which means never expire.",
  ),
  ttlNeedsIndexing: backend(
    400,
    "Indexing mode value cannot be 'none' when 'defaultTtl' is specified in the collection",
  ),
  idChanged: backend(
    400,
    "The id in the body is '{body}' but the request addresses '{address}'; replacing a resource cannot change its id.",
  ),
  nestingTooDeep: backend(400, 'The document is nested deeper than the maximum of {limit} levels.'),
  patchSyntax: backend(400, 'Invalid patch request: check syntax of patch specification. {why}'),
  patchTooMany: backend(400, "The number of patch operations can't exceed '{limit}'."),
  patchSystemProperty: backend(
    400,
    "Invalid patch request: Cannot patch system property '{name}'.",
  ),
  patchPartitionKey: backend(
    400,
    "Invalid patch request: Cannot change the partition key '{paths}' of an item.",
  ),
  patchFailed: backend(400, 'For Operation({number}): {why}'),
  definitionInvalid: backend(400, '{why}'),

  // scripts; errors that scripts throw bring their own sub-status
  scriptInvalid: backend(400, "The body of '{id}' is not one function in JavaScript. {why}", 65535),
  scriptBodyInvalid: gateway(400, 'Script request has invalid body. {why}'),
  scriptThrew: backend(
    400,
    'Encountered exception while executing function. Exception = {exception}',
  ),
  scriptMemory: backend(
    400,
    'The script ended because it used more than {limit} MB of memory. Nothing was changed.',
  ),
  scriptDepth: backend(
    400,
    'The script ended because it went deeper than the stack of its sandbox. Nothing was changed.',
  ),
  scriptKeyForeign: backend(
    400,
    'Requests originating from scripts cannot reference partition keys other than the one for which client request was submitted.',
  ),
  triggerUnfit: backend(400, "The trigger '{id}' cannot be run here: {why}"),
  scriptTimeout: backend(
    408,
    'The script ended because it ran longer than {limit} ms. Nothing was changed.',
  ),
  scriptsBusy: backend(429, 'Too many scripts are waiting to be run. Please retry later.', 3084),
  scriptConflict: backend(
    449,
    'Conflicting request to resource has been attempted. Retry to avoid conflicts.',
  ),
  offerInvalid: gateway(
    400,
    "The value of offer throughput specified is invalid. Please specify a value between {min} and 1000000 inclusive in increments of {step}. Got '{value}'.",
  ),
  offerBoth: gateway(400, 'Offer throughput and autopilot settings cannot both be specified.'),
  offerContentMissing: gateway(400, 'The required field Content is missing in Offer version v2.'),

  // 401, 403: who may do what
  authorizationMissing: gateway(
    401,
    'Required Header authorization is missing. Ensure a valid Authorization token is passed.',
    5000,
  ),
  authorizationMalformed: gateway(
    401,
    "Authorization header doesn't confirm to the required format. Please verify and try again.",
  ),
  authorizationUnsupported: gateway(
    401,
    "Authorization tokens of type '{type}' are not supported by this version of Mayfly; use an account key, a resource token or Entra.",
  ),
  dateMissing: gateway(
    401,
    'Authorization token mandates Date headers. Please pass in RFC 1123 style date format.',
  ),
  dateMalformed: gateway(
    401,
    'The input date header is invalid format. Please pass in RFC 1123 style date format.',
  ),
  signatureWrong: gateway(
    401,
    "The input authorization token can't serve the request. The wrong key is being used or the expected payload is not built as per the protocol. For more info: https://aka.ms/cosmosdb-tsg-unauthorized. Server used the following payload to sign: '{payload}'",
  ),
  tokenWrong: gateway(
    401,
    "The input authorization token can't serve the request. The resource token was not made by this account, or was changed since.",
  ),
  tokenRevoked: gateway(
    401,
    'The resource token is not valid any more: its permission or user was deleted or replaced since. Read the permission to get another token.',
  ),
  entraOff: gateway(
    401,
    'This server takes no Entra tokens. Use an account key, or start it with --entra accept (any token, on loopback only) or --entra verify.',
  ),
  entraMalformed: gateway(
    401,
    'The Entra token is not well-formed: it must be a JSON web token with a header, claims and an expiry.',
    5003,
  ),
  entraSignature: gateway(
    401,
    'The Entra token is not signed by a key that this server knows (RS256, RS384 or RS512).',
    5004,
  ),
  entraExpired: gateway(
    401,
    'The Entra token is not valid at the current time (token start time: {start}, token expiry time: {expiry}, current server time: {now}).',
    5006,
  ),
  entraIssuer: gateway(
    401,
    "The Entra token's issuer {issuer} is not one of --entra-issuer.",
    5007,
  ),
  entraAudience: gateway(
    401,
    "The Entra token's audience {audience} is not one of --entra-audience.",
    5008,
  ),
  bearerWrong: gateway(
    401,
    'The control API needs the header "Authorization: Bearer <account key>".',
  ),
  dateOutsideWindow: gateway(
    403,
    'The authorization token is not valid at the current time. Please create another token and retry (token start time: {start}, token expiry time: {expiry}, current server time: {now}).',
  ),
  readOnlyKey: gateway(
    403,
    "The permission mode provided in the authorization token doesn't provide sufficient permissions. A read-only key cannot be used for '{operation}'.",
  ),
  permissionModeTooLow: gateway(
    403,
    "The permission mode provided in the authorization token doesn't provide sufficient permissions.",
  ),
  permissionOutside: gateway(
    403,
    'Insufficient permissions provided in the authorization header for the corresponding request. Please retry with another authorization header.',
  ),
  entraControlPlane: gateway(
    403,
    'Request blocked by Auth : The given request [{operation} {path}] cannot be authorized by AAD token in data plane. Use an account key. Learn more: https://aka.ms/cosmos-native-rbac.',
    5300,
  ),
  entraMetadataDenied: gateway(
    403,
    'Request blocked by Auth : Request is blocked because principal [{principal}] does not have required RBAC permissions to perform action [{operation}]. Learn more: https://aka.ms/cosmos-native-rbac.',
    5301,
  ),
  entraDataDenied: gateway(
    403,
    'Request blocked by Auth : Request is blocked because principal [{principal}] does not have required RBAC permissions to perform action [{operation}]. Learn more: https://aka.ms/cosmos-native-rbac.',
    5302,
  ),
  foreignHost: gateway(
    403,
    "The control API does not answer to the host name '{host}'. Use localhost or an IP address, or start with --allow-host {host}.",
  ),
  foreignOrigin: gateway(
    403,
    "Requests from the origin '{origin}' are not answered. Pages of other origins reach the account only if it was started with --cors-origin, and the control API never.",
  ),
  limitReached: gateway(403, 'The account already has {limit} {what}, which is the maximum.', 1005),

  collectionOfMongo: gateway(
    403,
    "'{name}' is a collection of the API for MongoDB; the API is fixed at creation. Use a MongoDB client.",
  ),
  // for scripts alone: a read of what they have already
  notModified: backend(304, 'The document has not been changed.'),

  // 404 and further
  notFound: backend(404, 'Resource Not Found. Learn more: https://aka.ms/cosmosdb-tsg-not-found'),
  permissionTargetMissing: backend(
    404,
    "The resource of a permission must be a container in the database of its user, or in one: there is no '{resource}'.",
  ),
  ownerNotFound: backend(
    404,
    "Owner resource does not exist: '{owner}'. Learn more: https://aka.ms/cosmosdb-tsg-not-found",
    1003,
  ),
  sessionNotAvailable: backend(
    404,
    'The read session is not available for the input session token.',
    1002,
  ),
  methodNotAllowed: gateway(
    405,
    'The method {method} is not allowed on {path}. Allowed: {allowed}.',
  ),
  conflict: backend(409, 'Entity with the specified id already exists in the system.'),
  uniqueConflict: backend(
    409,
    'Unique index constraint violation. The value of {paths} is already used in this logical partition.',
  ),
  resourceConflict: backend(
    409,
    'Resource with specified id, name, or unique index already exists.',
  ),
  clockNotVirtual: gateway(
    409,
    'The clock is the system clock and cannot be moved. Start with --clock virtual to freeze, set or advance time.',
  ),
  rangeGone: gateway(
    410,
    "PartitionKeyRange with id '{id}' in collection '{rid}' doesn't exist.",
    1002,
  ),
  preconditionFailed: backend(
    412,
    'Operation cannot be performed because one of the specified precondition is not met.',
  ),
  responseTooLarge: backend(
    413,
    'The response is too large: the items it would hold exceed the maximum of {limit} bytes.',
    3402,
  ),
  tooLarge: backend(413, 'Request size is too large: {bytes} bytes, the maximum is {limit} bytes.'),
  failedDependency: backend(
    424,
    'The operation was not carried out, because another one of the same request failed.',
  ),
  throttled: backend(
    429,
    'Request rate is large. More Request Units may be needed, so no changes were made. Please retry this request later. Learn more: http://aka.ms/cosmosdb-error-429',
    3200,
  ),
  faultInjected: gateway(
    500,
    'This answer was asked for by rule {rule} of /_mayfly/faults; nothing is wrong with the request.',
  ),
  headersTooLarge: gateway(
    431,
    'The request headers are larger than the maximum of {limit} bytes.',
  ),
  storeTimeout: gateway(408, 'The database did not answer in time; the request may be repeated.'),
  storeBusy: gateway(429, 'All connections to the database are in use; retry after a moment.'),
  retryWith: gateway(449, 'Other writers were in the way; retry the request.'),
  internal: gateway(500, 'Mayfly met an unexpected error; it was logged under this activity id.'),
  storeUnavailable: gateway(503, 'The database cannot be reached; retry later. {why}'),
  storeBroken: gateway(
    503,
    'The store could not be written, so that it takes no more writes until the server is started again. {why}',
  ),
  shuttingDown: gateway(503, 'The server is shutting down; retry against it after its restart.'),
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof errorTable;

type Names<T> = T extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never;
export type ErrorValues<C extends ErrorCode> = Readonly<
  Record<Names<(typeof errorTable)[C]['text']>, string | number>
>;

/**
 * An expected failure. Anything else that is thrown is a defect and ends the request with a 500.
 */
export class MayflyError extends Error {
  readonly code: ErrorCode;
  /** Where the changes of the container stood, if it was looked at: clients are told. */
  readonly lsn: number | undefined;

  constructor(code: ErrorCode, text: string, lsn?: number) {
    super(text);
    this.name = 'MayflyError';
    this.code = code;
    this.lsn = lsn;
  }

  seenAt(lsn: number): MayflyError {
    return new MayflyError(this.code, this.message, lsn);
  }

  get kind(): ErrorKind {
    return errorTable[this.code];
  }
}

/** Makes the error for a code; the type system asks for exactly the values its text names. */
export function failure<C extends ErrorCode>(
  code: C,
  ...[values]: Names<(typeof errorTable)[C]['text']> extends never ? [] : [ErrorValues<C>]
): MayflyError {
  const given = values as Record<string, string | number> | undefined;
  const text = errorTable[code].text.replace(/\{(\w+)\}/g, (_, name: string) =>
    shorten(String(given?.[name] ?? '')),
  );
  return new MayflyError(code, text.trimEnd());
}

const SHOWN_CHARACTERS_MAX = 400;

/** Values come from requests, so a message names them without repeating megabytes. */
function shorten(text: string): string {
  if (text.length <= SHOWN_CHARACTERS_MAX) return text;
  return `${text.slice(0, SHOWN_CHARACTERS_MAX)}… (${text.length} characters)`;
}
