import type { EntityManager } from "@mikro-orm/core";
import { type ExecutableQuery, type Executor, hasMethods, type KnexClient, queueError, runOnKnex, showGiven } from "@queue/core/adapter";

/** An `EntityManager` that is in a transaction, which its type does not say: by shape, so that one of any driver and copy fits. */
export type MikroOrmTransaction = Pick<EntityManager, "getTransactionContext" | "fork">;

/** What such an `EntityManager` of MikroORM 6 runs its statements on, a transaction of Knex: the part that is used. */
interface KnexTransaction {
  readonly client: KnexClient;
  isCompleted(): boolean;
}

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
export function fromMikroOrm(em: MikroOrmTransaction): Executor {
  const trx = transactionOf(em);
  return {
    adapter: "mikro-orm",
    scope: trx.client.config,
    async execute<R>(query: ExecutableQuery): Promise<{ rows: R[] }> {
      // Its connection is back in the pool, and perhaps in somebody else's transaction.
      if (trx.isCompleted()) throw ended();
      // Not by `em.execute`, which writes parameters into the text.
      return runOnKnex<R>(trx.client, query);
    },
  };
}

function transactionOf(em: MikroOrmTransaction): KnexTransaction {
  if (!hasMethods(em, "getTransactionContext")) {
    throw invalid(`fromMikroOrm takes the em of em.transactional(async (em) => …), but was given ${showGiven(em)}.`);
  }
  const trx = em.getTransactionContext<Partial<KnexTransaction>>();
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

function isKnexTransaction(trx: Partial<KnexTransaction>): trx is KnexTransaction {
  return hasMethods(trx, "isCompleted") && hasMethods(trx.client, "acquireConnection");
}

function ended(): Error {
  return invalid(
    "The transaction of the EntityManager that was given to fromMikroOrm has ended, so nothing can be written in it. Await what is enqueued before the transaction's callback returns.",
  );
}

function invalid(message: string): Error {
  return queueError("INVALID_OPTION", message, { option: "em" });
}
