import type { WorkerStatements } from "@queue/core/internal";
import type { Database } from "../database/database.js";
import type { Clock } from "../time/clock.js";
import { retryDelayMs } from "../time/retry-delay.js";

export interface HearingCheckOptions {
  readonly database: Database;
  readonly statements: Pick<WorkerStatements, "ringWorkers">;
  readonly worker: string;
  readonly clock: Clock;
  readonly onHeard: () => void;
  readonly onDeaf: () => void;
  readonly onError: (error: unknown) => void;
}

/** A notification takes milliseconds; a pooler in transaction mode swallows it. */
const patienceMs = 5_000;

/** Whether a LISTEN hears anything: the worker notifies itself, and waits. Through some poolers all seems well, and nothing arrives. */
export class HearingCheck {
  readonly #options: HearingCheckOptions;
  #cancel = () => {};
  #hears = false;

  constructor(options: HearingCheckOptions) {
    this.#options = options;
  }

  /** Notifications have arrived since it was started last. */
  get hears(): boolean {
    return this.#hears;
  }

  start(): void {
    this.stop();
    this.#hears = false;
    this.#ping(1);
  }

  /** Somebody was heard. */
  heard(worker: string): void {
    if (worker !== this.#options.worker) return;
    this.stop();
    this.#hears = true;
    this.#options.onHeard();
  }

  stop(): void {
    this.#cancel();
    this.#cancel = () => {};
  }

  /** What could not be sent, as right after a failover, is sent again: who is not heard is not rung. */
  #ping(tries: number): void {
    const { database, statements, worker, clock, onDeaf, onError } = this.#options;
    const cancel = clock.after(patienceMs, onDeaf);
    this.#cancel = cancel;
    database.run(statements.ringWorkers, { message: `ping ${worker}` }).catch((error: unknown) => {
      onError(error);
      // Heard, stopped, or begun anew meanwhile.
      if (this.#cancel !== cancel) return;
      cancel();
      this.#cancel = clock.after(retryDelayMs(tries), () => this.#ping(tries + 1));
    });
  }
}
