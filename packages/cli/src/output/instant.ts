/** A time as people read it, in UTC to the second. */
export function showInstant(at: Date | null): string | null {
  return at === null ? null : `${at.toISOString().slice(0, 19).replace("T", " ")}Z`;
}

const units = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
] as const;

/** A span as people read it, in its two largest units: `3d 4h`, `12s`, `250ms`. */
export function showSpan(ms: number | null): string | null {
  if (ms === null) return null;
  const first = units.findIndex(([, unitMs]) => ms >= unitMs);
  const [unit, next] = first === -1 ? [] : units.slice(first, first + 2);
  if (unit === undefined) return `${Math.round(ms)}ms`;
  const rest = next === undefined ? 0 : Math.floor((ms % unit[1]) / next[1]);
  return `${Math.floor(ms / unit[1])}${unit[0]}${rest === 0 || next === undefined ? "" : ` ${rest}${next[0]}`}`;
}
