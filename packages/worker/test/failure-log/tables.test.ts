import { afterEach, describe, expect, test } from "vitest";
import { createQueue, job, QueueError } from "@queue/core";
import { migrate } from "@queue/core/migrations";
import { clientListener } from "../support/client-listener.js";
import { createGate, untilAborted } from "../support/gate.js";
import { useWorkers } from "../support/use-workers.js";
import { unhandledDuring } from "./support/unhandled-during.js";

const workers = useWorkers();
const queue = createQueue({ jobs: { works: job(), long: job() } });
const short = { lease: "2s", heartbeat: 100, sweepInterval: 50 } as const;

describe("B56: what the loops of a worker meet while its tables are away for a while", () => {
  test.each(["jobs", "workers", "lanes", "jobs_archive"])(
    "%s renamed: errors are told, no loop ends, nothing is thrown that nobody catches",
    async (table) => {
      const gate = createGate();
      const unhandled = await unhandledDuring(async () => {
        const { events } = await workers.start({
          queue,
          ...short,
          handlers: { works: () => {}, long: () => gate.pass() },
        });
        const { id } = await queue.enqueue(workers.db, "long", null);
        await gate.reached;
        await workers.sql(`alter table queue.${table} rename to hidden`);
        try {
          if (table === "jobs_archive") gate.open();
          await events.until("worker.error", 3);
        } finally {
          await workers.sql(`alter table queue.hidden rename to ${table}`);
        }
        gate.open();
        await events.untilFor(id, "job.completed");
        expect(await workers.job(id)).toMatchObject({ status: "done", attempts: 1 });
        const later = await queue.enqueue(workers.db, "works", null);
        await events.untilFor(later.id, "job.completed");
        expect(events.of("worker.error").every(({ error }) => QueueError.is(error, "DATABASE_ERROR"))).toBe(true);
      });
      expect(unhandled).toEqual([]);
    },
  );
});

describe("a DBA at work while jobs run", () => {
  test("who truncates the jobs ends the running one's lease, which is told, and what comes after is done", async () => {
    const { events } = await workers.start({
      queue,
      ...short,
      handlers: { works: () => {}, long: (_job, { signal }) => untilAborted(signal).then(() => {}) },
    });
    const { id } = await queue.enqueue(workers.db, "long", null);
    await events.untilFor(id, "job.started");
    await workers.sql("truncate queue.jobs");
    await events.untilFor(id, "job.lease-lost");
    const { id: next } = await queue.enqueue(workers.db, "works", null);
    await events.untilFor(next, "job.completed");
  });

  test.each([
    ["adds a column", "alter table queue.jobs add column note text default 'x'", "alter table queue.jobs drop column note"],
    ["rewrites the table", "vacuum full queue.jobs", "select 1"],
    ["clusters it by another index", "cluster queue.jobs using jobs_pkey", "select 1"],
    ["makes the claim index anew", "reindex index concurrently queue.jobs_claim", "select 1"],
    ["adds an index of its own", "create index concurrently own on queue.jobs (created_at)", "drop index queue.own"],
    ["forces all to be logged anew", "alter table queue.jobs set unlogged", "alter table queue.jobs set logged"],
  ])("and %s costs no job and no attempt", async (_what, change, back) => {
    const gate = createGate();
    const { events } = await workers.start({ queue, handlers: { works: () => {}, long: () => gate.pass() } });
    const { id } = await queue.enqueue(workers.db, "long", null);
    await gate.reached;
    await workers.sql(change);
    try {
      const { id: beside } = await queue.enqueue(workers.db, "works", null);
      await events.untilFor(beside, "job.completed");
      gate.open();
      await events.untilFor(id, "job.completed");
    } finally {
      await workers.sql(back);
    }
    expect((await workers.jobs()).map(({ status, attempts }) => [status, attempts])).toEqual([
      ["done", 1],
      ["done", 1],
    ]);
  });
});

describe("a schema that is dropped under a worker", () => {
  afterEach(async () => {
    await workers.sql("drop schema if exists other cascade");
  });

  test("stops it, with an error that says what is missing, and leaves nothing open", async () => {
    await migrate(workers.db, { schema: "other" });
    const other = createQueue({ schema: "other", jobs: queue.jobs });
    const unhandled = await unhandledDuring(async () => {
      const { events } = await workers.start({ queue: other, ...short, handlers: { works: () => {} } });
      await other.enqueue(workers.db, "works", null);
      await events.until("job.completed");
      await workers.sql("drop schema other cascade");
      await events.until("worker.stopped");
      expect(events.of("worker.error").some(({ error }) => QueueError.is(error, "SCHEMA_MISSING"))).toBe(true);
    });
    expect(unhandled).toEqual([]);
  });

  test("ends a run() with the same error", async () => {
    await migrate(workers.db, { schema: "other" });
    const other = createQueue({ schema: "other", jobs: queue.jobs });
    const { worker, events } = workers.create({ queue: other, ...short, handlers: { works: () => {} } });
    const running = worker.run().catch((error: unknown) => error);
    await events.until("worker.started");
    await workers.sql("drop schema other cascade");
    expect(await running).toSatisfy((error) => QueueError.is(error, "SCHEMA_MISSING"));
  });

  test("and made anew is another one: an enqueue says that the tables are missing while they are, and works after", async () => {
    await migrate(workers.db, { schema: "other" });
    const other = createQueue({ schema: "other", jobs: queue.jobs });
    await other.enqueue(workers.db, "works", null);
    await workers.sql("drop schema other cascade");
    for (let round = 0; round < 2; round++)
      await expect(other.enqueue(workers.db, "works", null)).rejects.toMatchObject({ code: "SCHEMA_MISSING", schema: "other" });
    await migrate(workers.db, { schema: "other" });
    expect(await other.enqueue(workers.db, "works", null)).toEqual({ id: "1", inserted: true });
  });
});

describe("two queues in one database, whose jobs have the same ids", () => {
  test("have nothing to do with each other: workers, cancels, keys and pauses reach their own", async () => {
    await migrate(workers.db, { schema: "Queue" });
    const upper = createQueue({ schema: "Queue", jobs: queue.jobs });
    const listen = () => ({ listener: clientListener(workers.database.url), pollInterval: 50, ...short });
    const waiting = { works: () => {}, long: (_job: unknown, { signal }: { signal: AbortSignal }) => untilAborted(signal).then(() => {}) };
    try {
      const one = await workers.start({ queue, ...listen(), handlers: waiting });
      const two = await workers.start({ queue: upper, ...listen(), handlers: waiting });
      const ids = [
        await queue.enqueue(workers.db, "long", null, { key: "k" }),
        await upper.enqueue(workers.db, "long", null, { key: "k" }),
      ];
      expect(ids).toEqual(Array.from({ length: 2 }, () => ({ id: "1", inserted: true })));
      await Promise.all([one, two].map(({ events }) => events.untilFor("1", "job.started")));
      await upper.admin(workers.db).cancel("1");
      await two.events.untilFor("1", "job.cancelled");
      await upper.admin(workers.db).pause("default");
      const { id } = await queue.enqueue(workers.db, "works", null);
      await one.events.untilFor(id, "job.completed");
      expect(one.events.typesFor("1")).toEqual(["job.started"]);
      expect(await workers.job("1")).toMatchObject({ status: "running" });
    } finally {
      await workers.sql('drop schema "Queue" cascade');
    }
  });
});
