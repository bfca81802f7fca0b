import type { DataSource, EntityManager } from "typeorm";
import { type AdapterDatabase, type ExecutableQuery, type Executor, queueError, showValue } from "@queue/core/adapter";
import { fromTypeorm } from "./from-typeorm.js";

/**
 * A `DataSource` as a worker, `migrate` and `queue.admin` take it. Transactional handlers get the `EntityManager` of the
 * transaction that their completion commits with; commit and rollback are the worker's. With replication, everything runs on
 * the primary.
 *
 * @throws QueueError `INVALID_OPTION` when `dataSource` is none
 * @example createWorker({ queue, db: typeormDatabase(dataSource), handlers });
 */
export function typeormDatabase(dataSource: DataSource): AdapterDatabase<EntityManager> {
  if (typeof dataSource?.createQueryRunner !== "function") {
    throw queueError("INVALID_OPTION", `typeormDatabase takes a DataSource of TypeORM, but was given ${showValue(dataSource)}.`, {
      option: "dataSource",
    });
  }
  return {
    adapter: "typeorm",
    scope: dataSource,
    async execute<R>({ sql, parameters }: ExecutableQuery): Promise<{ rows: R[] }> {
      const runner = dataSource.createQueryRunner();
      try {
        const { records } = await runner.query(sql, [...parameters], true);
        return { rows: records as R[] };
      } finally {
        await runner.release();
      }
    },
    transaction: (body) => transact(dataSource, body),
  };
}

async function transact<T>(dataSource: DataSource, body: (trx: EntityManager, executor: Executor) => Promise<T>): Promise<T> {
  const runner = dataSource.createQueryRunner();
  try {
    await runner.startTransaction();
    const executor = fromTypeorm(runner.manager);
    // TypeORM has no option for READ WRITE. Its own for the level would be one more statement.
    await executor.execute({ sql: "set transaction isolation level read committed read write", parameters: [] });
    const result = await body(runner.manager, executor);
    await runner.commitTransaction();
    return result;
  } catch (error) {
    // Rejects when there is nothing to roll back, or when the connection is lost: the error is the body's.
    await runner.rollbackTransaction().catch(() => {});
    throw error;
  } finally {
    await runner.release();
  }
}
