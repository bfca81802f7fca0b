import { Alarm } from "../time/alarm.js";
import type { Clock } from "../time/clock.js";
import { retryDelayMs } from "../time/retry-delay.js";

export interface LoopOptions {
  readonly clock: Clock;
  readonly intervalMs: number;
  /** One round. A rejection is reported, and the round tried again with back-off; it never ends the loop. */
  readonly runOnce: () => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/**
 * Runs something again and again until it is stopped: the one lifecycle that all services of a worker share. Intervals are
 * jittered by a tenth, so that processes that started together do not stay in step.
 */
export class Loop {
  readonly #options: LoopOptions;
  readonly #alarm: Alarm;
  #isStopping = false;
  #running: Promise<void> | undefined;

  constructor(options: LoopOptions) {
    this.#options = options;
    this.#alarm = new Alarm(options.clock);
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Runs the next round now. */
  wake(): void {
    this.#alarm.ring();
  }

  /** Resolves when the round that is under way has ended. Safe to call twice. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#alarm.ring();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { intervalMs, runOnce, onError } = this.#options;
    for (let failures = 0; !this.#isStopping;) {
      await this.#alarm.sleep(failures === 0 ? intervalMs * (0.95 + Math.random() / 10) : Math.min(intervalMs, retryDelayMs(failures)));
      if (this.#isStopping) break;
      try {
        await runOnce();
        failures = 0;
      } catch (error) {
        failures += 1;
        onError(error);
      }
    }
  }
}
