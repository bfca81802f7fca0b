import type { Clock } from "./clock.js";

/**
 * Something to sleep on. A ring while nobody sleeps is kept: the next sleep ends at once, so that what happened between a look
 * and the sleep is never missed.
 */
export class Alarm {
  readonly #clock: Clock;
  #isRung = false;
  #wake: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Ends the sleep now, or the next one at once. */
  ring(): void {
    this.#isRung = true;
    this.#wake?.();
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
}
