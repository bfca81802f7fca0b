import type { EntityManager, QueryRunner } from "typeorm";
import { type ExecutableQuery, type Executor, hasMethods, queueError, showGiven } from "@queue/core/adapter";

/**
 * What a queue writes through, made of the `EntityManager` of a transaction: a job that is enqueued through it runs if, and
 * only if, that transaction commits. A nested transaction is a savepoint of TypeORM: its jobs go when it is rolled back.
 *
 * The manager of a `DataSource`, or of a query runner without a transaction, is refused: the job would be committed on its own.
 *
 * @throws QueueError `INVALID_OPTION` when `entityManager` is none, or has no open transaction; from `enqueue`, when it has
 * ended meanwhile
 * @example
 * await dataSource.transaction(async (entityManager) => {
 *   await entityManager.save(order);
 *   await queue.enqueue(fromTypeorm(entityManager), "order.send-receipt", { orderId: order.id });
 * });
 */
export function fromTypeorm(entityManager: EntityManager): Executor {
  const runner = runnerOf(entityManager);
  return {
    adapter: "typeorm",
    scope: dataSourceOf(entityManager),
    async execute<R>({ sql, parameters }: ExecutableQuery): Promise<{ rows: R[] }> {
      if (!runner.isTransactionActive) throw ended();
      // In the structured form: without it, rows come alone for an insert, and in a pair with their number for an update.
      const { records } = await runner.query(sql, [...parameters], true);
      return { rows: records as R[] };
    },
  };
}

/** What is the same for all managers of one database. TypeORM before 1.0 calls it `connection`. */
function dataSourceOf(entityManager: { readonly dataSource?: object; readonly connection?: object }): object | undefined {
  return entityManager.dataSource ?? entityManager.connection;
}

function runnerOf(entityManager: EntityManager): QueryRunner {
  if (!hasMethods(entityManager, "createQueryBuilder", "getRepository")) {
    throw invalid(
      `fromTypeorm takes the EntityManager of dataSource.transaction(async (entityManager) => …), but was given ${showGiven(entityManager)}.`,
    );
  }
  const runner = entityManager.queryRunner;
  if (runner?.isTransactionActive !== true) {
    throw invalid(
      "fromTypeorm takes the EntityManager of an open transaction, but was given one without a transaction, so the job would not be in yours. Give it the one of `dataSource.transaction(async (entityManager) => …)`, or `queryRunner.manager` after `startTransaction()`.",
    );
  }
  return runner;
}

function ended(): Error {
  return invalid(
    "The transaction of the EntityManager that was given to fromTypeorm has ended, so nothing can be written in it. Await what is enqueued before the transaction's callback returns.",
  );
}

function invalid(message: string): Error {
  return queueError("INVALID_OPTION", message, { option: "entityManager" });
}
