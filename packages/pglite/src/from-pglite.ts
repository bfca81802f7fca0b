import type { PGliteInterface } from "@electric-sql/pglite";
import { type ExecutableQuery, type Executor, queueError, showValue } from "@queue/core/adapter";

/** What runs statements: PGlite's `Transaction`, or a `PGlite` of any copy and with any extensions, by shape. */
export type PgliteQueryable = Pick<PGliteInterface, "query" | "sql" | "exec">;

/**
 * What a queue writes through, made of PGlite's own transaction, for code that uses PGlite without Kysely: the job runs if,
 * and only if, that transaction commits. Made of a `PGlite`, each statement is a transaction of its own.
 *
 * @throws QueueError `INVALID_OPTION` when `tx` is neither
 * @example
 * await pglite.transaction(async (tx) => {
 *   await tx.query("insert into orders …");
 *   await queue.enqueue(fromPglite(tx), "order.send-receipt", { orderId });
 * });
 */
export function fromPglite(tx: PgliteQueryable): Executor {
  if (typeof tx?.query !== "function" || typeof tx.exec !== "function") {
    throw queueError(
      "INVALID_OPTION",
      `fromPglite takes the tx of pglite.transaction(async (tx) => …), or a PGlite, but was given ${showValue(tx)}.`,
      {
        option: "tx",
      },
    );
  }
  return {
    adapter: "pglite",
    scope: tx,
    async execute<R>({ sql, parameters }: ExecutableQuery): Promise<{ rows: R[] }> {
      const { rows } = await tx.query<R>(sql, [...parameters]);
      return { rows };
    },
  };
}
