import type { Knex } from "knex";
import { type ExecutableQuery, type Executor, hasMethods, type KnexClient, queueError, runOnKnex, showGiven } from "@queue/core/adapter";

/** A transaction of Knex, or a savepoint in one, of whatever tables: by shape, so that any copy of Knex fits. */
export type KnexTransaction = Pick<Knex.Transaction, "client" | "isCompleted">;

/**
 * What a queue writes through, made of a transaction of Knex: a job that is enqueued through it runs if, and only if, that
 * transaction commits. A savepoint (`trx.transaction(…)`) is one as well: its jobs go when it is rolled back.
 *
 * A `Knex` without a transaction is refused, by the compiler and at run time: the job would be committed on its own.
 *
 * @throws QueueError `INVALID_OPTION` when `trx` is no transaction; from `enqueue`, when it has ended meanwhile
 * @example
 * await knex.transaction(async (trx) => {
 *   await trx("orders").insert({ id: orderId });
 *   await queue.enqueue(fromKnex(trx), "order.send-receipt", { orderId });
 * });
 */
export function fromKnex(trx: KnexTransaction): Executor {
  refuseOtherThanTransaction(trx);
  const client: KnexClient = trx.client;
  return {
    adapter: "knex",
    scope: client.config,
    async execute<R>(query: ExecutableQuery): Promise<{ rows: R[] }> {
      // Its connection is back in the pool, and perhaps in somebody else's transaction.
      if (trx.isCompleted()) throw ended();
      return runOnKnex<R>(client, query);
    },
  };
}

function refuseOtherThanTransaction(trx: unknown): void {
  if (!hasMethods(trx, "raw", "transaction")) {
    throw invalid(`fromKnex takes the trx of knex.transaction(async (trx) => …), but was given ${showGiven(trx)}.`);
  }
  if (!hasMethods(trx, "isCompleted")) {
    throw invalid(
      "fromKnex takes a transaction of Knex, but was given a Knex without one, so the job would not be in your transaction. Give it the trx of `knex.transaction(async (trx) => …)`.",
    );
  }
}

function ended(): Error {
  return invalid(
    "The transaction of Knex that was given to fromKnex has ended, so nothing can be written in it. Await what is enqueued before the transaction's callback returns.",
  );
}

function invalid(message: string): Error {
  return queueError("INVALID_OPTION", message, { option: "trx" });
}
