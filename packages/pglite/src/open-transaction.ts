import type { PGliteInterface, Results } from "@electric-sql/pglite";
import type { TransactionSettings } from "kysely";

type Tx = Parameters<Parameters<PGliteInterface["transaction"]>[0]>[0];

/** Ends PGlite's transaction by a rollback, and is no error to anybody. */
const rollbackSignal = Symbol("rollback");

/**
 * A transaction of PGlite, held open between Kysely's begin and its commit or rollback. It is PGlite's own `transaction()`,
 * which keeps everybody else out: also what goes to the instance directly, past Kysely.
 */
export class OpenTransaction {
  readonly #tx: Tx;
  readonly #ended: Promise<unknown>;
  readonly #end: { commit(): void; rollback(): void };
  #isOpen = true;
  #running = 0;
  #idleSinceMs = performance.now();
  /** A statement has failed, so that the transaction may be aborted. */
  #hasFailed = false;

  static async begin(pglite: Pick<PGliteInterface, "transaction">, settings: TransactionSettings): Promise<OpenTransaction> {
    const transaction = await new Promise<OpenTransaction>((resolve, reject) => {
      const ended: Promise<unknown> = pglite.transaction(
        (tx) =>
          new Promise<void>((commit, rollback) => {
            resolve(new OpenTransaction(tx, ended, { commit, rollback: () => rollback(rollbackSignal) }));
          }),
      );
      // When BEGIN itself fails. Later it says nothing new, but marks the rejection as handled.
      ended.catch(reject);
    });
    try {
      await transaction.#apply(settings);
      return transaction;
    } catch (error) {
      await transaction.rollback();
      throw error;
    }
  }

  private constructor(tx: Tx, ended: Promise<unknown>, end: { commit(): void; rollback(): void }) {
    this.#tx = tx;
    this.#ended = ended;
    this.#end = end;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** How long it has been waiting for its owner; 0 while a statement runs. */
  idleMs(): number {
    return this.#running > 0 ? 0 : performance.now() - this.#idleSinceMs;
  }

  async query<R>(sql: string, parameters: unknown[]): Promise<Results<R>> {
    this.#running += 1;
    try {
      return await this.#tx.query<R>(sql, parameters);
    } catch (error) {
      this.#hasFailed = true;
      throw error;
    } finally {
      this.#running -= 1;
      this.#idleSinceMs = performance.now();
    }
  }

  /** Rejects when PostgreSQL rolled back instead, because a statement had failed: with 25P02, unless it says otherwise. */
  async commit(): Promise<void> {
    this.#running += 1;
    try {
      // Before 0.5 PGlite's commit of an aborted transaction looks like a success. Nothing runs in an aborted transaction.
      if (this.#hasFailed) await this.#tx.query("select 1");
      this.#end.commit();
      await this.#ended;
    } catch (error) {
      await this.rollback();
      throw error;
    } finally {
      this.#isOpen = false;
    }
  }

  /** Safe when it has ended already. */
  async rollback(): Promise<void> {
    this.#running += 1;
    this.#end.rollback();
    // Rejected with the signal, or with what ended it before.
    await this.#ended.catch(() => {});
    this.#isOpen = false;
  }

  async #apply({ isolationLevel, accessMode }: TransactionSettings): Promise<void> {
    const modes = [isolationLevel === undefined ? [] : `isolation level ${isolationLevel}`, accessMode ?? []].flat();
    if (modes.length > 0) await this.#tx.query(`set transaction ${modes.join(", ")}`);
  }
}
