import type { KyselyLike } from "@queue/core";

/** A `Kysely` of any copy and version, by shape; not a `Transaction`. */
export interface WorkerDatabase extends KyselyLike {
  transaction(): { execute(callback: never): Promise<unknown> };
}

/** The caller's own `Transaction<DB>`, from the caller's own copy of kysely. */
export type TransactionOf<TDb extends WorkerDatabase> =
  ReturnType<TDb["transaction"]> extends { execute(callback: (trx: infer TTrx) => Promise<unknown>): unknown } ? TTrx : never;
