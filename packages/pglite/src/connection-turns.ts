import { queueError } from "@queue/core/adapter";
import type { OpenTransaction } from "./open-transaction.js";

/** As long as PostgreSQL's own `deadlock_timeout`. */
const deadlockTimeoutMs = 1_000;

interface Waiter {
  take(): void;
}

/** Who may use the one connection: one after the other, in the order they asked. */
export class ConnectionTurns {
  readonly #waiting: Waiter[] = [];
  #isTaken = false;

  /**
   * Resolves when it is the caller's turn. `inside` is the transaction in whose callback the caller runs, when it runs in
   * one: if that transaction then does nothing for a second, it is waiting for its caller, who waits for it.
   *
   * @throws QueueError `INVALID_OPTION` when the two wait for each other
   */
  take(inside: OpenTransaction | undefined): Promise<void> {
    if (!this.#isTaken) {
      this.#isTaken = true;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      let watch: NodeJS.Timeout | undefined;
      const waiter: Waiter = {
        take() {
          clearTimeout(watch);
          resolve();
        },
      };
      this.#waiting.push(waiter);
      const look = (transaction: OpenTransaction) => {
        const idleMs = transaction.idleMs();
        if (!transaction.isOpen) return;
        if (idleMs < deadlockTimeoutMs) {
          watch = setTimeout(look, deadlockTimeoutMs - idleMs, transaction);
          return;
        }
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        reject(deadlock());
      };
      if (inside !== undefined) look(inside);
    });
  }

  release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#isTaken = false;
    else next.take();
  }
}

function deadlock() {
  return queueError(
    "INVALID_OPTION",
    "A query on `db` inside `db.transaction().execute(async (trx) => …)` waits for the transaction to end, and the transaction waits for the query: PGlite has one connection. Use `trx` for everything inside the callback.",
    { option: "db" },
  );
}
