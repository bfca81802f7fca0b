import type { ReservedSql, TransactionSql } from "postgres";
import { type ExecutableQuery, type Executor, queueError, showGiven } from "@queue/core/adapter";
import { runStatement } from "./run-statement.js";

/**
 * What a queue writes through, made of a transaction of postgres.js: a job that is enqueued through it runs if, and only if,
 * that commits. Inside `sql.savepoint()` give the `sql` of the savepoint. A reserved connection is taken, too: then begin and
 * commit on it are yours.
 *
 * The `sql` of `postgres()` itself is refused, by the compiler and at run time: each of its statements takes any connection,
 * so the job would not be in the caller's transaction.
 *
 * @throws QueueError `INVALID_OPTION` when it is the `sql` of `postgres()`, or none of postgres.js
 * @example
 * await sql.begin(async (trx) => {
 *   await trx`insert into orders ${trx(order)}`;
 *   await queue.enqueue(fromPostgresJs(trx), "order.send-receipt", { orderId: order.id });
 * });
 */
export function fromPostgresJs<TTypes extends Record<string, unknown>>(sql: TransactionSql<TTypes> | ReservedSql<TTypes>): Executor {
  refuseOtherThanTransaction(sql);
  return {
    adapter: "postgres-js",
    scope: scopeOf(sql),
    execute: <R>(query: ExecutableQuery) => runStatement<R>(sql, query),
  };
}

/** One function for each `postgres()`, the same in all its transactions; there is no object of which that is true. */
export function scopeOf(sql: { readonly json: unknown }): object {
  return sql.json as object;
}

function refuseOtherThanTransaction(sql: unknown): void {
  if (typeof sql !== "function" || !("unsafe" in sql)) {
    throw queueError(
      "INVALID_OPTION",
      `fromPostgresJs takes the transaction of sql.begin(async (trx) => …), but was given ${showGiven(sql)}.`,
      { option: "sql" },
    );
  }
  if ("begin" in sql) {
    throw queueError(
      "INVALID_OPTION",
      "fromPostgresJs takes a transaction, but was given the sql of postgres(). Each of its statements takes any connection, so the job would not be in your transaction. Give the one that the callback gets: `sql.begin(async (trx) => … fromPostgresJs(trx) …)`.",
      { option: "sql" },
    );
  }
}
