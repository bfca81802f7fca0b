import type { Clock } from "../../src/time/clock.js";

/** A clock that stands still until the test moves it. */
export interface FakeClock extends Clock {
  /** Moves it on, and calls what becomes due, in the order of time. */
  advance(ms: number): void;
  /** Moves it on, and lets promises settle after each timer. */
  advanceSlowly(ms: number): Promise<void>;
  /** Lets time pass without calling anything, as an event loop does that is blocked. */
  block(ms: number): void;
  /** Timers that are still to come. */
  readonly pending: number;
  /** When the next timer is due, in milliseconds from now. */
  readonly nextInMs: number | undefined;
}

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

export function fakeClock(): FakeClock {
  let now = 0;
  let timers: Timer[] = [];

  function takeDue(until: number): Timer | undefined {
    const [next] = timers.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at);
    if (next === undefined) return undefined;
    timers = timers.filter((timer) => timer !== next);
    now = Math.max(now, next.at);
    return next;
  }

  return {
    now: () => now,
    date: () => new Date(now),
    after(ms, callback) {
      const timer = { at: now + ms, callback };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    advance(ms) {
      const until = now + ms;
      for (let timer = takeDue(until); timer !== undefined; timer = takeDue(until)) timer.callback();
      now = until;
    },
    async advanceSlowly(ms) {
      const until = now + ms;
      await settlePromises();
      for (let timer = takeDue(until); timer !== undefined; timer = takeDue(until)) {
        timer.callback();
        await settlePromises();
      }
      now = until;
      await settlePromises();
    },
    block: (ms) => void (now += ms),
    get pending() {
      return timers.length;
    },
    get nextInMs() {
      return timers.length === 0 ? undefined : Math.min(...timers.map(({ at }) => at)) - now;
    },
  };
}

/** Lets everything that waits for promises alone, and for the end of a turn, but not for I/O or timers, come to an end. */
export async function settlePromises(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
}
