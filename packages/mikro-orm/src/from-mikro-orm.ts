import type { EntityManager } from "@mikro-orm/core";
import { type ExecutableQuery, type Executor, queueError, showValue } from "@queue/core/adapter";
import type { KnexTransactionLike } from "./knex-connection.js";

/** An `EntityManager` of MikroORM, by shape, so that one of any driver and copy fits. */
export type MikroOrmEntityManager = Pick<EntityManager, "getTransactionContext" | "fork">;

/**
 * What a queue writes through, made of an `EntityManager` that is in a transaction: a job that is enqueued through it runs if,
 * and only if, that transaction commits. A nested transaction is a savepoint: its jobs go when it is rolled back.
 *
 * Enqueuing does not flush: what the unit of work holds is written when MikroORM writes it, in the same transaction.
 *
 * An `EntityManager` without a transaction is refused: the job would be committed on its own.
 *
 * @throws QueueError `INVALID_OPTION` when `em` is none, or has no open transaction; from `enqueue`, when it has ended meanwhile
 * @example
 * await orm.em.fork().transactional(async (em) => {
 *   em.persist(order);
 *   await queue.enqueue(fromMikroOrm(em), "order.send-receipt", { orderId: order.id });
 * });
 */
export function fromMikroOrm(em: MikroOrmEntityManager): Executor {
  const trx = transactionOf(em);
  return {
    adapter: "mikro-orm",
    scope: trx.client.config,
    async execute<R>({ sql, parameters }: ExecutableQuery): Promise<{ rows: R[] }> {
      // Its connection is back in the pool, and perhaps in somebody else's transaction.
      if (trx.isCompleted()) throw ended();
      // `em.execute` writes parameters into the text, and takes each ? for one, also in names and texts.
      const connection = await trx.client.acquireConnection();
      const { rows } = await connection.query<R>({ text: sql, values: [...parameters] });
      return { rows };
    },
  };
}

function transactionOf(em: MikroOrmEntityManager): KnexTransactionLike {
  if (typeof (em as unknown as Partial<PromiseLike<unknown>> | undefined)?.then === "function") {
    throw invalid("fromMikroOrm takes an EntityManager, but was given a promise: an await is missing.");
  }
  if (typeof em?.getTransactionContext !== "function") {
    throw invalid(`fromMikroOrm takes the em of em.transactional(async (em) => …), but was given ${showValue(em)}.`);
  }
  const trx = em.getTransactionContext<Partial<KnexTransactionLike>>();
  if (trx === undefined) {
    throw invalid(
      "fromMikroOrm takes the EntityManager of an open transaction, but was given one without a transaction, so the job would not be in yours. Give it the em of `em.transactional(async (em) => …)`, or one after `em.begin()`.",
    );
  }
  if (!isKnexTransaction(trx)) {
    throw invalid("fromMikroOrm takes an EntityManager of @mikro-orm/postgresql 6, but this one's transactions are of another driver.");
  }
  if (trx.isCompleted()) throw ended();
  return trx;
}

function isKnexTransaction(trx: Partial<KnexTransactionLike>): trx is KnexTransactionLike {
  return typeof trx.isCompleted === "function" && typeof trx.client?.acquireConnection === "function";
}

function ended(): Error {
  return invalid(
    "The transaction of the EntityManager that was given to fromMikroOrm has ended, so nothing can be written in it. Await what is enqueued before the transaction's callback returns.",
  );
}

function invalid(message: string): Error {
  return queueError("INVALID_OPTION", message, { option: "em" });
}
