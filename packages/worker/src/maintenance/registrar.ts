import { hostname } from "node:os";
import { toArrayLiteral, type WorkerStatements } from "@queue/core/internal";
import type { Database } from "../database/database.js";
import { Loop } from "../lifecycle/loop.js";
import type { Clock } from "../time/clock.js";

export interface RegistrarOptions {
  readonly database: Database;
  readonly statements: Pick<WorkerStatements, "registerWorker" | "forgetWorker">;
  readonly worker: string;
  readonly clock: Clock;
  readonly intervalMs: number;
  readonly kinds: readonly string[];
  readonly lanes: readonly string[] | undefined;
  readonly pid: number;
  readonly onError: (error: unknown) => void;
}

/** Entries are believed for so many intervals, so that one that is missed is no alarm. */
const missedIntervals = 3;

/** Tells operators that this worker lives, and which kinds it has handlers for. */
export class Registrar {
  readonly #options: RegistrarOptions;
  readonly #loop: Loop;
  #isRegistered = false;

  constructor(options: RegistrarOptions) {
    this.#options = options;
    const { clock, intervalMs, onError } = options;
    this.#loop = new Loop({ clock, intervalMs, runOnce: () => this.runOnce(), onError });
  }

  start(): void {
    this.#loop.start();
  }

  /** Takes the entry back; when the database is away, it expires by itself. */
  async stop(): Promise<void> {
    await this.#loop.stop();
    if (!this.#isRegistered) return;
    const { database, statements, worker, onError } = this.#options;
    await database.run(statements.forgetWorker, { worker }).catch(onError);
  }

  async runOnce(): Promise<void> {
    const { database, statements, worker, kinds, lanes, intervalMs, pid } = this.#options;
    this.#isRegistered = true;
    await database.run(statements.registerWorker, {
      worker,
      kinds: toArrayLiteral(kinds),
      lanes: lanes === undefined ? null : toArrayLiteral(lanes),
      host: hostname(),
      pid,
      expiresInMs: intervalMs * missedIntervals,
    });
  }
}
