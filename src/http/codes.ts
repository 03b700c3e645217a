// The word that stands for a status in error bodies.

export function codeOf(status: number): string {
  return CODES[status] ?? String(status);
}

const CODES: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  408: 'RequestTimeout',
  409: 'Conflict',
  410: 'Gone',
  412: 'PreconditionFailed',
  413: 'RequestEntityTooLarge',
  424: 'FailedDependency',
  431: 'RequestHeaderFieldsTooLarge',
  449: 'RetryWith',
  500: 'InternalServerError',
  503: 'ServiceUnavailable',
};
