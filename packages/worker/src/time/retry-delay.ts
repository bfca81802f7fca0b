/** The pause before try `n` (from 1) of something that failed for want of a database: 100 ms, doubling, up to 5 s, jittered. */
export function retryDelayMs(n: number, random: () => number = Math.random): number {
  return Math.min(5_000, 100 * 2 ** Math.min(n - 1, 10)) * (0.5 + random() / 2);
}
