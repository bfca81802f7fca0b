/** A value at a moment. */
export interface Point {
  readonly atMs: number;
  readonly value: number;
}

/** A rise that would be allowed: so much, or so large a part of what is usual, whichever is more. */
export interface Allowance {
  readonly atLeast: number;
  readonly part: number;
}

/** Shorter than this a rise cannot be told from what a caches' warm-up or one cycle of a minute does. */
export const shortestTrendMs = 150_000;

export interface Trend {
  /** How much it rose over the last two thirds. */
  readonly rise: number;
  readonly allowed: number;
  readonly median: number;
}

/**
 * The rise over the last two thirds of the points: the median of the slopes between all pairs (Theil, 1950; Sen, 1968) times the time,
 * so that single peaks, and the sawtooth of what is cleaned every minute, change nothing. Undefined when that is too short.
 */
export function trendOf(points: readonly Point[], { atLeast, part }: Allowance): Trend | undefined {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const fromMs = first.atMs + (last.atMs - first.atMs) / 3;
  const tail = points.filter(({ atMs }) => atMs >= fromMs);
  const spanMs = last.atMs - (tail[0]?.atMs ?? last.atMs);
  if (spanMs < shortestTrendMs) return undefined;
  const slopes = tail.flatMap((a, i) => tail.slice(i + 1).map((b) => (b.value - a.value) / (b.atMs - a.atMs)));
  const usual = median(tail.map(({ value }) => value));
  return { rise: median(slopes) * spanMs, allowed: Math.max(atLeast, usual * part), median: usual };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
