import type { EntityManager } from "@mikro-orm/core";
import {
  type AdapterDatabase,
  type ExecutableQuery,
  type Executor,
  hasMethods,
  type KnexClient,
  queueError,
  runOnKnex,
  runToCommit,
  showGiven,
} from "@queue/core/adapter";
import { fromMikroOrm } from "./from-mikro-orm.js";

/** A `MikroORM` with the `EntityManager` of its driver. */
export interface MikroOrmDatabase<TEm extends EntityManager> {
  readonly em: TEm;
}

/**
 * A `MikroORM` as a worker, `migrate` and `queue.admin` take it. Transactional handlers get an `EntityManager` of their own,
 * forked for the transaction that their completion commits with; commit and rollback are the worker's. What the handler leaves
 * in the unit of work is flushed before its completion is written.
 *
 * @throws QueueError `INVALID_OPTION` when `orm` is none, or of another driver than `@mikro-orm/postgresql` 6
 * @example createWorker({ queue, db: mikroOrmDatabase(orm), handlers });
 */
export function mikroOrmDatabase<TEm extends EntityManager>(orm: MikroOrmDatabase<TEm>): AdapterDatabase<TEm> {
  const client = clientOf(orm);
  return {
    adapter: "mikro-orm",
    scope: client.config,
    execute: <R>(query: ExecutableQuery) => runOnKnex<R>(client, query),
    transaction: (body) => transact(orm.em, body),
  };
}

function clientOf(orm: MikroOrmDatabase<EntityManager>): KnexClient {
  const connection: object | undefined = hasMethods(orm?.em, "getConnection") ? orm.em.getConnection("write") : undefined;
  if (connection === undefined || !hasKnex(connection)) {
    throw queueError(
      "INVALID_OPTION",
      `mikroOrmDatabase takes what MikroORM.init() of @mikro-orm/postgresql 6 resolves with, but was given ${showGiven(orm)}.`,
      { option: "orm" },
    );
  }
  return connection.getKnex().client;
}

/** MikroORM 6 runs on Knex, 7 does not. */
function hasKnex(connection: object): connection is { getKnex(): { readonly client: KnexClient } } {
  return hasMethods(connection, "getKnex");
}

async function transact<TEm extends EntityManager, T>(root: TEm, body: (trx: TEm, executor: Executor) => Promise<T>): Promise<T> {
  return root.fork().transactional(async (em) => {
    const executor = fromMikroOrm(em);
    // MikroORM has no option for READ WRITE. Its own for the level would be one more statement.
    await executor.execute({ sql: "set transaction isolation level read committed read write", parameters: [] });
    return runToCommit(flushing(em, executor), (watched) => body(em, watched));
  });
}

/** Writes what the handler left in the unit of work before its completion, which is the last statement of the transaction. */
function flushing(em: Pick<EntityManager, "flush">, executor: Executor): Executor {
  return {
    ...executor,
    async execute(query) {
      await em.flush();
      return executor.execute(query);
    },
  };
}
