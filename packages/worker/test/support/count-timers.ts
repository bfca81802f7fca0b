import { type Clock, systemClock } from "../../src/time/clock.js";

/** The process's clock, and how many of its timers are still to come. */
export function countTimers(): Clock & { readonly pending: number } {
  const pending = new Set<object>();
  return {
    now: systemClock.now,
    date: systemClock.date,
    after(ms, callback) {
      const timer = {};
      pending.add(timer);
      const cancel = systemClock.after(ms, () => {
        pending.delete(timer);
        callback();
      });
      return () => {
        pending.delete(timer);
        cancel();
      };
    },
    get pending() {
      return pending.size;
    },
  };
}
