import type { Clock } from "./clock.js";

/**
 * Something to sleep on. A ring while nobody sleeps is kept: the next sleep ends at once, so that what happened between a look
 * and the sleep is never missed.
 */
export class Alarm {
  readonly #clock: Clock;
  #isRung = false;
  #wake: (() => void) | undefined;
  #timed: { readonly at: number; readonly cancel: () => void } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Ends the sleep now, or the next one at once. */
  ring(): void {
    this.#isRung = true;
    this.#wake?.();
  }

  /** Rings in `ms`; of several, the earliest counts. */
  ringAfter(ms: number): void {
    const at = this.#clock.now() + ms;
    if (this.#timed !== undefined && this.#timed.at <= at) return;
    this.#timed?.cancel();
    const cancel = this.#clock.after(ms, () => {
      this.#timed = undefined;
      this.ring();
    });
    this.#timed = { at, cancel };
  }

  /** Sleeps until a ring, but not longer than `ms`. */
  async sleep(ms: number): Promise<void> {
    if (!this.#isRung) {
      await new Promise<void>((resolve) => {
        const cancel = this.#clock.after(ms, resolve);
        this.#wake = () => {
          cancel();
          resolve();
        };
      });
      this.#wake = undefined;
    }
    this.#isRung = false;
  }

  /** Takes back what was to ring later. */
  clear(): void {
    this.#timed?.cancel();
    this.#timed = undefined;
  }
}
