import type { WorkerStatements } from "@queue/core/internal";
import type { Database } from "../database/database.js";
import type { Clock } from "../time/clock.js";

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
    const { database, statements, worker, clock, onDeaf, onError } = this.#options;
    this.stop();
    this.#hears = false;
    this.#cancel = clock.after(patienceMs, onDeaf);
    database.run(statements.ringWorkers, { message: `ping ${worker}` }).catch((error: unknown) => {
      this.stop();
      onError(error);
    });
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
}
