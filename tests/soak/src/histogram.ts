/** How often each value was seen: tenths of a millisecond, so that samples of a minute add up without a loss. */
export type Histogram = ReadonlyMap<number, number>;

/** Pairs of value and count, as they travel between processes. */
export type Counts = readonly (readonly [value: number, count: number])[];

export function mergeCounts(all: Iterable<Counts>): Histogram {
  const merged = new Map<number, number>();
  for (const counts of all) for (const [value, count] of counts) merged.set(value, (merged.get(value) ?? 0) + count);
  return merged;
}

/** The value below or at which `share` of all lie; undefined of nothing. */
export function percentile(histogram: Histogram, share: number): number | undefined {
  const sorted = [...histogram].sort(([a], [b]) => a - b);
  const total = sorted.reduce((sum, [, count]) => sum + count, 0);
  let seen = 0;
  for (const [value, count] of sorted) {
    seen += count;
    if (seen >= total * share) return value;
  }
  return undefined;
}
