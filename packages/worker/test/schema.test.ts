import { afterEach, describe, expect, test } from "vitest";
import { createQueue, job, QueueError } from "@queue/core";
import { migrate } from "@queue/core/migrations";
import { useTestDatabase } from "@queue/test-database";
import { clientListener } from "./support/client-listener.js";
import { until } from "./support/until.js";
import { useWorkers } from "./support/use-workers.js";

const workers = useWorkers();
const queue = createQueue({ jobs: { a: job({ backoff: { base: 1 } }) } });

describe("a worker on a database without the tables", () => {
  test("does not start: it says what is missing and what to do, and leaves nothing open", async () => {
    const elsewhere = createQueue({ schema: "not here", jobs: { a: job() } });
    const listener = clientListener(workers.database.url);
    const pool = workers.database.newPool();
    const { worker, events } = workers.create({ queue: elsewhere, db: workers.openOn(pool), listener, handlers: { a: () => {} } });
    for (let round = 0; round < 2; round++) {
      const error: unknown = await worker.start().catch((thrown: unknown) => thrown);
      expect(QueueError.is(error, "SCHEMA_MISSING") && error).toMatchObject({
        schema: "not here",
        message: expect.stringContaining("migrate"),
      });
    }
    expect(listener.pid).toBeNaN();
    await until(() => pool.idleCount === pool.totalCount, "a pool that nobody uses");
    expect(events.of("worker.started")).toEqual([]);
    expect(events.of("worker.error")).toEqual([]);
    await worker.stop();
  });

  test("starts after they have been made", async () => {
    const late = createQueue({ schema: "made late", jobs: { a: job() } });
    const { worker, events } = workers.create({ queue: late, handlers: { a: () => {} } });
    await expect(worker.start()).rejects.toThrow(/not in schema "made late"/);
    await migrate(workers.db, late);
    await worker.start();
    await late.enqueue(workers.db, "a", null);
    await events.until("job.completed");
    await worker.stop();
  });
});

describe("B111: a worker and tables of another version", () => {
  afterEach(async () => {
    await workers.sql("delete from queue.migrations where name not like '0001%'");
    await workers.sql("update queue.migrations set name = '0001-initial' where name like '0001%'");
  });

  test("does not start on older ones, and says which it found and expected", async () => {
    await workers.sql("update queue.migrations set name = '0001-older' where name like '0001%'");
    const { worker } = workers.create({ queue, handlers: { a: () => {} } });
    const error: unknown = await worker.start().catch((thrown: unknown) => thrown);
    expect(QueueError.is(error, "SCHEMA_TOO_OLD") && error).toMatchObject({ expected: "0001-initial", found: "0001-older" });
  });

  test("does not start on newer ones that say that they break it", async () => {
    await workers.sql("insert into queue.migrations (name, breaks_older_workers) values ('9999-newer', true)");
    const { worker } = workers.create({ queue, handlers: { a: () => {} } });
    const error: unknown = await worker.start().catch((thrown: unknown) => thrown);
    expect(QueueError.is(error, "SCHEMA_TOO_NEW") && error).toMatchObject({ expected: "0001-initial", found: "9999-newer" });
  });

  test("works on newer ones that say that they do not", async () => {
    await workers.sql("insert into queue.migrations (name, breaks_older_workers) values ('9999-newer', false)");
    const { events } = await workers.start({ queue, handlers: { a: () => {} } });
    await queue.enqueue(workers.db, "a", null);
    await events.until("job.completed");
  });

  test("goes on when they become newer while it runs: nothing is lost, nothing runs twice", async () => {
    const { events } = await workers.start({ queue, concurrency: 5, handlers: { a: () => {} } });
    const enqueue = () =>
      queue.enqueueMany(
        workers.db,
        Array.from({ length: 100 }, () => ({ kind: "a", payload: null }) as const),
      );
    await enqueue();
    await workers.sql("alter table queue.jobs add column of_the_future text not null default 'x'");
    await workers.sql("insert into queue.migrations (name, breaks_older_workers) values ('9999-newer', false)");
    await enqueue();
    await events.until("job.completed", 200);
    expect(await workers.sql("select from queue.all_jobs where attempts <> 1")).toEqual([]);
    await workers.sql("alter table queue.jobs drop column of_the_future");
  });
});

describe("B107: a role that may only use the tables", () => {
  const database = useTestDatabase();

  test("does not start a worker when it may not claim: the error of the database says what is missing", async () => {
    const role = `reader_${Math.trunc(performance.now() * 1_000)}`;
    await database.pool.query(`create role ${role} login password 'pw'; grant usage on schema queue to ${role};
      grant select on all tables in schema queue to ${role}`);
    try {
      const url = new URL(database.url);
      [url.username, url.password] = [role, "pw"];
      const db = workers.openOn(database.newPool({ connectionString: url.href }));
      const { worker } = workers.create({ queue, db, handlers: { a: () => {} } });
      await expect(worker.start()).rejects.toMatchObject({ code: "42501" });
    } finally {
      await database.pool.query(`drop owned by ${role}; drop role ${role}`).catch(() => {});
    }
  });

  test("starts a worker that does everything, without a statement that defines anything", async () => {
    const role = `worker_${Math.trunc(performance.now() * 1_000)}`;
    await database.pool.query(`
      create role ${role} login password 'pw';
      grant usage on schema queue to ${role};
      grant select, insert, update, delete on all tables in schema queue to ${role};
      grant usage on all sequences in schema queue to ${role}`);
    try {
      const url = new URL(database.url);
      [url.username, url.password] = [role, "pw"];
      const pool = database.newPool({ connectionString: url.href });
      const db = workers.openOn(pool);
      const { events, logger } = await workers.start({
        queue,
        db,
        concurrency: 2,
        listener: clientListener(url.href),
        handlers: { a: { transactional: true, run: ({ attempt }) => (attempt === 1 ? Promise.reject(new Error("once")) : undefined) } },
      });
      await queue.enqueue(db, "a", null);
      await events.until("job.completed");
      expect(events.of("worker.error")).toEqual([]);
      expect(logger.linesOf("info").filter(({ message }) => message.includes("maintain_archive"))).toHaveLength(1);
      expect(logger.linesOf("warn").map(({ message }) => message)).toEqual(["An attempt failed and will be retried."]);
    } finally {
      await database.pool.query(`drop owned by ${role}; drop role ${role}`).catch(() => {});
    }
  });
});
