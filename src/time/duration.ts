// Durations as people write them: a number of seconds, or a text such as "90d".

const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Milliseconds, or undefined when the value is no duration. */
export function parseDurationMs(value: unknown): number | undefined {
  if (typeof value === 'number')
    return Number.isFinite(value) ? Math.round(value * 1000) : undefined;
  if (typeof value !== 'string') return undefined;
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|w)?$/.exec(value.trim());
  if (!match) return undefined;
  return Math.round(Number(match[1]) * (UNITS_MS[match[2] ?? 's'] ?? 1000));
}
