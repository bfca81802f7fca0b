import { type ExecutableQuery, type Executor, hasMethods, queueError, showGiven } from "@queue/core/adapter";
import { type DrizzleRunner, runStatement } from "./run-statement.js";

/** The `tx` of `db.transaction(async (tx) => …)`, of PostgreSQL: by shape, of whatever copy of Drizzle, driver and schema. */
export interface DrizzleTransaction extends DrizzleRunner {
  rollback(): never;
  setTransaction(config: never): PromiseLike<unknown>;
}

/**
 * What a queue writes through, made of a transaction of Drizzle: a job that is enqueued through it runs if, and only if, that
 * commits. Inside a nested `tx.transaction()`, a savepoint, give the `tx` of that one.
 *
 * The `db` of `drizzle()` is refused, by the compiler and at run time: each of its statements takes any connection, so the job
 * would not be in the caller's transaction.
 *
 * @throws QueueError `INVALID_OPTION` when it is a `db`, or nothing of Drizzle
 * @example
 * await db.transaction(async (tx) => {
 *   const [order] = await tx.insert(orders).values({ … }).returning();
 *   await queue.enqueue(fromDrizzle(tx), "order.send-receipt", { orderId: order.id });
 * });
 */
export function fromDrizzle(tx: DrizzleTransaction): Executor {
  refuseOtherThanTransaction(tx);
  return {
    adapter: "drizzle",
    scope: scopeOf(tx),
    execute: <R>(query: ExecutableQuery) => runStatement<R>(tx, query),
  };
}

/** A `db` and its transactions share the dialect, which each `drizzle()` makes anew. Without one: the object itself. */
export function scopeOf(db: object): object {
  return "dialect" in db && typeof db.dialect === "object" && db.dialect !== null ? db.dialect : db;
}

export function isDrizzle(value: unknown): value is DrizzleRunner & { readonly transaction: unknown } {
  return hasMethods(value, "execute", "select", "transaction");
}

export function isTransaction(value: unknown): boolean {
  return isDrizzle(value) && hasMethods(value, "rollback", "setTransaction");
}

function refuseOtherThanTransaction(tx: unknown): void {
  if (isTransaction(tx)) return;
  throw queueError(
    "INVALID_OPTION",
    isDrizzle(tx)
      ? "fromDrizzle takes a transaction, but was given a db. Each of its statements takes any connection, so the job would not be in your transaction. Give the one that the callback gets: `db.transaction(async (tx) => … fromDrizzle(tx) …)`."
      : `fromDrizzle takes the transaction of db.transaction(async (tx) => …), but was given ${showGiven(tx)}.`,
    { option: "tx" },
  );
}
