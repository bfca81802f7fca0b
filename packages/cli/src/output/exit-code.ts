/** What scripts can rely on. */
export const exitCode = Object.freeze({
  fine: 0,
  /** The database or the job says no. */
  failed: 1,
  /** A flag, an argument, the config, or a payload is wrong: nothing was done. */
  usage: 2,
  /** `doctor` found something. */
  found: 3,
});
