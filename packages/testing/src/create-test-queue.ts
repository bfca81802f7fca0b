import type { JobDefinitions, Queue, QueueDatabase } from "@queue/core";
import type { DatabaseTarget } from "@queue/core/adapter";
import { queueError, refuseUnknownOptions, showValue, toDatabase } from "@queue/core/internal";
import { migrate } from "@queue/core/migrations";
import type { Kysely } from "kysely";
import { createDrain } from "./drain.js";
import { openMigratedDatabase } from "./migrated-database.js";
import { createTestClock } from "./test-clock.js";
import type { TestQueue } from "./test-queue.js";

/** A test queue on a database of its own, inside the process. */
export interface EmbeddedQueueOptions<DB> {
  /**
   * Creates the application's own tables, in each new database, after those of the queue. The type of its parameter is the type of
   * the test queue's `db`.
   *
   * @example prepare: (db: Kysely<ShopDatabase>) => migrateToLatest(db)
   */
  readonly prepare?: ((db: Kysely<DB>) => Promise<unknown>) | undefined;
}

/** A test queue on a database that is there: a real PostgreSQL, for what needs concurrency. */
export interface GivenQueueOptions<TDb extends DatabaseTarget> {
  /** A Kysely, or what an adapter makes of another library's database. It is migrated, and stays open and as it is at the end. */
  readonly db: TDb;
}

/**
 * Makes a database for a test, in memory, with the tables of the queue: a real PostgreSQL, nothing to install. The first in a process
 * takes some seconds, each after it is a copy and takes less than one. Nobody else sees what is written there.
 *
 * It has one connection (see `@queue/pglite`): for what needs several at a time give it a Kysely on a server, as `db`.
 *
 * @throws QueueError `INVALID_OPTION`; what `migrate` throws; what `prepare` throws, after the database is closed
 * @example
 * await using test = await createTestQueue(queue, { prepare: (db: Kysely<ShopDatabase>) => createTables(db) });
 * await placeOrder(test.db, "o1");
 * await expectEnqueued(test.db, queue, "order.send-receipt", { orderId: "o1" });
 * await test.drain({ "order.send-receipt": sendReceipt });
 */
export async function createTestQueue<
  TJobs extends JobDefinitions,
  TSchema extends string,
  DB = TSchema extends "queue" ? QueueDatabase : QueueDatabase<TSchema>,
>(queue: Queue<TJobs, TSchema>, options?: EmbeddedQueueOptions<DB>): Promise<TestQueue<TJobs, TSchema, Kysely<DB>>>;
export async function createTestQueue<TJobs extends JobDefinitions, TSchema extends string, TDb extends DatabaseTarget>(
  queue: Queue<TJobs, TSchema>,
  options: GivenQueueOptions<TDb>,
): Promise<TestQueue<TJobs, TSchema, TDb>>;
export async function createTestQueue<TJobs extends JobDefinitions, TSchema extends string>(
  queue: Queue<TJobs, TSchema>,
  options: Partial<GivenQueueOptions<DatabaseTarget>> & EmbeddedQueueOptions<unknown> = {},
): Promise<TestQueue<TJobs, TSchema, DatabaseTarget>> {
  refuseUnknownOptions(options, ["db", "prepare"], "createTestQueue");
  const { db, prepare } = options;
  if (prepare !== undefined && typeof prepare !== "function") {
    throw queueError("INVALID_OPTION", `prepare must be a function, but is ${showValue(prepare)}.`, { option: "prepare" });
  }
  if (db !== undefined) {
    if (prepare !== undefined) {
      throw queueError("INVALID_OPTION", "prepare is for a database that is made here; one that is given has its tables already.", {
        option: "prepare",
      });
    }
    await migrate(db, queue);
    return assemble(queue, db, async () => {});
  }
  const made = await openMigratedDatabase<unknown>(queue.schema);
  try {
    await prepare?.(made.db);
  } catch (error) {
    await made.close();
    throw error;
  }
  return assemble(queue, made.db, made.close);
}

function assemble<TJobs extends JobDefinitions, TSchema extends string>(
  queue: Queue<TJobs, TSchema>,
  db: DatabaseTarget,
  close: () => Promise<void>,
): TestQueue<TJobs, TSchema, DatabaseTarget> {
  const executor = toDatabase(db);
  const clock = createTestClock(executor, queue.schema);
  return {
    db,
    queue,
    admin: queue.admin(db),
    clock,
    drain: createDrain({ db, executor, queue, clock }),
    close,
    [Symbol.asyncDispose]: close,
  };
}
