// Instants and seconds: the two units of time, and the only places where one becomes the other.

/** Milliseconds since the Unix epoch. Taken once per request, from the Clock. */
export type Instant = number & { readonly __unit: 'ms' };

export const instant = (ms: number): Instant => ms as Instant;
/** Whole Unix seconds, as `_ts` holds them. */
export const secondsOf = (at: Instant): number => Math.floor(at / 1000);
export const instantOfSeconds = (seconds: number): Instant => instant(seconds * 1000);
/** 9999-12-31T23:59:59.999Z, the last instant that an ISO date can name with four digits. */
export const LAST_INSTANT = instant(253_402_300_799_999);
