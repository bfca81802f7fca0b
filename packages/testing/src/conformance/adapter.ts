import type { EnqueueTarget, Executor, Listener } from "@queue/core";
import type { DatabaseTarget } from "@queue/core/adapter";

/** What an adapter brings to the suite: a database, and its way into a transaction. */
export interface Adapter<TTrx = unknown> {
  /** A Kysely, or what the adapter makes of its library's database; empty or used: each test makes a schema of its own. */
  readonly db: DatabaseTarget;
  /** Left out by an adapter that has none; then nothing about waking up is tested. */
  readonly listener?: Listener | undefined;
  /** What the adapter makes of the transaction that handlers get; a transaction of Kysely is taken as it is. */
  inHandler(trx: TTrx): EnqueueTarget;
  /**
   * Runs `fn` inside a transaction of the adapter's own library, with what the adapter makes of it, and then commits or rolls
   * back. When `fn` rejects, it rolls back and rejects with the same.
   */
  executorInTransaction(fn: (executor: Executor) => Promise<void>, options: { readonly commit: boolean }): Promise<void>;
  /**
   * Runs `fn` in a nested transaction (a savepoint) of the library's, inside `trx` as handlers get it, with the library's own for
   * that. When `fn` rejects, it rolls back to where it began and rejects. Left out by an adapter whose library has none.
   */
  nested?(trx: TTrx, fn: (inner: TTrx) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}
