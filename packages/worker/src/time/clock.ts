/**
 * The process's clock. It only paces loops: what is stored, and who may run what, is decided by the database's clock. The one
 * place where timers and the time of day are used, so that a test can put another clock in its place.
 */
export interface Clock {
  /** Milliseconds from an arbitrary moment; never goes back. */
  now(): number;
  /** Calls `callback` after `ms`, once; the result takes it back. */
  after(ms: number, callback: () => void): () => void;
  /** The time of day, for what is shown to people. */
  date(): Date;
}

/** The longest timer of Node; a longer one would fire at once. */
export const longestTimerMs = 2_147_483_647;

export const systemClock: Clock = Object.freeze({
  now: () => performance.now(),
  after(ms: number, callback: () => void) {
    const timer = setTimeout(callback, Math.min(Math.max(0, ms), longestTimerMs));
    return () => clearTimeout(timer);
  },
  date: () => new Date(),
});
