import { queueError } from "../errors/queue-error.js";
import { showValue } from "../errors/show-value.js";
import type { Executor } from "./executor.js";
import { type KyselyLike, toExecutor } from "./kysely-like.js";

/**
 * The port for a whole database of another library: its statements, each on its own, and its transactions. An adapter makes one
 * (`drizzleDatabase(db)` …) for `createWorker`, `migrate` and `queue.admin`; of a Kysely it is made here.
 */
export interface AdapterDatabase<TTrx> extends Executor {
  /** One connection serves all, and who comes waits for its turn, as in an embedded database. @default false */
  readonly hasOneConnection?: boolean | undefined;
  /**
   * Runs `body` in a transaction of the library, at READ COMMITTED and for reading and writing, whatever the database's
   * defaults say: `trx` is the library's own, `executor` runs statements in it. It commits when `body` resolves; when `body`
   * rejects, it rolls back and rejects with the same error.
   */
  transaction<T>(body: (trx: TTrx, executor: Executor) => Promise<T>): Promise<T>;
}

/** A `Kysely` of any copy and version, by shape; not a `Transaction`. */
export interface KyselyDatabase extends KyselyLike {
  transaction(): { execute(callback: never): Promise<unknown> };
}

/** An {@link AdapterDatabase} of whatever library: its callback's parameter fits any. */
interface AnyAdapterDatabase extends Executor {
  readonly hasOneConnection?: boolean | undefined;
  transaction(body: never): Promise<unknown>;
}

/** What has transactions of its own: a Kysely, or what an adapter makes of another library's database. */
export type DatabaseTarget = KyselyDatabase | AnyAdapterDatabase;

/** The transaction that handlers get: the library's own, from the caller's own copy of it. */
export type TransactionOf<TDb extends DatabaseTarget> = TDb extends {
  transaction(body: (trx: infer TTrx, executor: Executor) => Promise<unknown>): Promise<unknown>;
}
  ? TTrx
  : TDb extends KyselyDatabase
    ? ReturnType<TDb["transaction"]> extends { execute(callback: (trx: infer TTrx) => Promise<unknown>): unknown }
      ? TTrx
      : never
    : never;

/** The part of Kysely's transaction builder that is used, and that is the same in 0.28 and 0.29. */
interface TransactionalShape {
  transaction(): {
    setIsolationLevel(level: "read committed"): {
      setAccessMode(mode: "read write"): { execute<T>(callback: (trx: KyselyLike) => Promise<T>): Promise<T> };
    };
  };
}

/** @throws QueueError `INVALID_OPTION` when it is neither, or a transaction */
export function toDatabase(target: DatabaseTarget): AdapterDatabase<unknown> {
  if (isAdapterDatabase(target)) return target as AdapterDatabase<unknown>;
  if (!isKyselyDatabase(target)) {
    throw queueError(
      "INVALID_OPTION",
      `db must be a Kysely, or what an adapter makes of another library's database, and not a Transaction; but is ${showValue(target)}.`,
      { option: "db" },
    );
  }
  const executor = toExecutor(target);
  return {
    ...executor,
    hasOneConnection: hasOneConnection(executor.scope),
    transaction: (body) =>
      (target as unknown as TransactionalShape)
        .transaction()
        .setIsolationLevel("read committed")
        .setAccessMode("read write")
        .execute((trx) => body(trx, toExecutor(trx))),
  };
}

export function isAdapterDatabase(target: unknown): target is AnyAdapterDatabase {
  return isObject(target) && typeof target["adapter"] === "string" && typeof target["transaction"] === "function";
}

function isKyselyDatabase(target: unknown): target is KyselyDatabase {
  return isObject(target) && typeof target["transaction"] === "function" && target["isTransaction"] !== true;
}

/** The dialect of an embedded database says so: ours, or that of kysely 0.29. */
function hasOneConnection(dialect: object | undefined): boolean {
  if (dialect === undefined) return false;
  return "hasOneConnection" in dialect || ("supportsMultipleConnections" in dialect && dialect.supportsMultipleConnections === false);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
