// Errors with numbers and the clock of scripts. Like all of the prelude, these functions run inside
// the sandbox and may use nothing from outside.

export interface NumberedError extends Error {
  number?: number;
  body?: string;
}

export function refusal(number: number, message: string): NumberedError {
  const error: NumberedError = new Error(message);
  error.number = number;
  return error;
}

/** `Error(409, 'text')` makes an error with a number, as on the service. */
export function errorsWithNumbers(global: Record<string, unknown>): void {
  const Native = Error;
  function NumberedError(this: unknown, first: unknown, second: unknown) {
    const isNumbered = typeof first === 'number';
    const args = isNumbered ? [second] : second === undefined ? [first] : [first, second];
    if (first === undefined && !isNumbered) args.length = 0;
    const error = Reflect.construct(Native, args, new.target ?? NumberedError);
    if (isNumbered) error.number = first;
    return error;
  }
  NumberedError.prototype = Native.prototype;
  Object.setPrototypeOf(NumberedError, Native);
  Object.defineProperty(NumberedError, 'name', { value: 'Error' });
  Native.prototype.constructor = NumberedError;
  global.Error = NumberedError;
  global.ErrorCodes = Object.freeze({
    BadRequest: 400,
    Forbidden: 403,
    NotFound: 404,
    RequestTimeout: 408,
    Conflict: 409,
    PreconditionFailed: 412,
    RequestEntityTooLarge: 413,
    RetryWith: 449,
    InternalServerError: 500,
  });
}

/** Scripts live in the server's time, which may be a virtual one. */
export function clockFrom(global: Record<string, unknown>, now: number): void {
  const Native = Date;
  const started = Native.now();
  const current = () => now + (Native.now() - started);
  function ServerDate(this: unknown, ...args: unknown[]) {
    if (new.target === undefined) return new Native(current()).toString();
    return Reflect.construct(Native, args.length === 0 ? [current()] : args, new.target);
  }
  ServerDate.prototype = Native.prototype;
  ServerDate.now = current;
  ServerDate.parse = Native.parse;
  ServerDate.UTC = Native.UTC;
  Object.defineProperty(ServerDate, 'name', { value: 'Date' });
  Object.defineProperty(ServerDate, 'length', { value: 7 });
  Native.prototype.constructor = ServerDate as unknown as DateConstructor;
  global.Date = ServerDate;
}
