import type { DataSource, EntityManager, QueryRunner } from "typeorm";
import {
  type AdapterDatabase,
  type ExecutableQuery,
  type Executor,
  queueError,
  runToCommit,
  showGiven,
  showValue,
} from "@queue/core/adapter";
import { fromTypeorm } from "./from-typeorm.js";

/**
 * A `DataSource` as a worker, `migrate` and `queue.admin` take it. Transactional handlers get the `EntityManager` of the
 * transaction that their completion commits with; commit and rollback are the worker's. With replication, everything runs on
 * the primary.
 *
 * @throws QueueError `INVALID_OPTION` when `dataSource` is none, or of another type than "postgres"
 * @example createWorker({ queue, db: typeormDatabase(dataSource), handlers });
 */
export function typeormDatabase(dataSource: DataSource): AdapterDatabase<EntityManager> {
  refuseOtherThanDatabase(dataSource);
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

function refuseOtherThanDatabase(dataSource: Partial<DataSource> | undefined): void {
  const takes = 'typeormDatabase takes a DataSource of TypeORM of the type "postgres"';
  if (typeof dataSource?.createQueryRunner !== "function") {
    throw queueError("INVALID_OPTION", `${takes}, but was given ${showGiven(dataSource)}.`, { option: "dataSource" });
  }
  if (dataSource.options?.type !== "postgres") {
    throw queueError("INVALID_OPTION", `${takes}, but was given one of the type ${showValue(dataSource.options?.type)}.`, {
      option: "dataSource",
    });
  }
}

async function transact<T>(dataSource: DataSource, body: (trx: EntityManager, executor: Executor) => Promise<T>): Promise<T> {
  const runner = dataSource.createQueryRunner();
  let isSound = true;
  try {
    await runner.startTransaction();
    const executor = fromTypeorm(runner.manager);
    // TypeORM has no option for READ WRITE. Its own for the level would be one more statement.
    await executor.execute({ sql: "set transaction isolation level read committed read write", parameters: [] });
    const result = await runToCommit(executor, (watched) => body(runner.manager, watched));
    // A commit of a nested level would only release its savepoint, and leave the transaction open.
    if (isNested(runner)) throw invalidNesting();
    await runner.commitTransaction();
    return result;
  } catch (error) {
    isSound = await rollBack(runner);
    throw error;
  } finally {
    await release(runner, isSound);
  }
}

/** Every level that is open; false when the connection is not to be used again. */
async function rollBack(runner: QueryRunner): Promise<boolean> {
  try {
    while (runner.isTransactionActive) await runner.rollbackTransaction();
    return true;
  } catch {
    // The error is the body's.
    return false;
  }
}

/** A connection whose transaction could not be ended does not get back into the pool: a later statement would never be committed. */
async function release(runner: QueryRunner, isSound: boolean): Promise<void> {
  if (!isSound && canDestroy(runner)) await runner.releasePostgresConnection(new Error("Its transaction could not be rolled back."));
  else await runner.release();
}

/** What `release()` itself calls, with the error that keeps a connection out of the pool. It is not in TypeORM's types. */
function canDestroy(runner: object): runner is { releasePostgresConnection(error: Error): Promise<void> } {
  return "releasePostgresConnection" in runner && typeof runner.releasePostgresConnection === "function";
}

function isNested(runner: object): boolean {
  return "transactionDepth" in runner && typeof runner.transactionDepth === "number" && runner.transactionDepth > 1;
}

function invalidNesting(): Error {
  return new Error("A nested transaction was begun and not ended: await every `manager.transaction(…)` before the handler returns.");
}
