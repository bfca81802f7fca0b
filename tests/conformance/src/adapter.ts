import type { Kysely } from "kysely";
import type { Executor, Listener } from "@queue/core";

/** What an adapter brings to the suite: a database, and its way into a transaction. */
export interface Adapter {
  /** On an empty or a used database: each test makes a schema of its own. */
  readonly db: Kysely<unknown>;
  /** Left out by an adapter that has none; then nothing about waking up is tested. */
  readonly listener?: Listener | undefined;
  /**
   * Runs `fn` inside a transaction of the adapter's own library, with what the adapter makes of it, and then commits or rolls
   * back. When `fn` rejects, it rolls back and rejects with the same.
   */
  executorInTransaction(fn: (executor: Executor) => Promise<void>, options: { readonly commit: boolean }): Promise<void>;
  close(): Promise<void>;
}
