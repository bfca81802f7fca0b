const baseMs = 100;
const capMs = 10_000;

/**
 * How long to wait before connecting again, after `failures` attempts in a row that failed: the first time at most 100 ms, at
 * the end 10 s. Half of it is chance, so that many processes do not come back at the same moment.
 */
export function reconnectDelayMs(failures: number, random: number = Math.random()): number {
  const ceiling = Math.min(capMs, baseMs * 2 ** Math.min(failures, 20));
  return Math.round((ceiling / 2) * (1 + random));
}
