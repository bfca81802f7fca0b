import { sql, type Transaction } from "kysely";
import { Kysely as Kysely0285, PostgresDialect as PostgresDialect0285 } from "kysely-028-5";
import { describe, expect, test } from "vitest";
import { createQueue, job, QueueError } from "@queue/core";
import { snooze } from "@queue/worker";
import { createGate, untilAborted } from "./support/gate.js";
import { type TestKysely, type TestTables, useWorkers } from "./support/use-workers.js";

const workers = useWorkers();
const queue = createQueue({
  jobs: {
    write: job({ backoff: { base: 1 }, maxAttempts: 3 }),
    unkept: job({ keep: false }),
    timed: job({ timeout: 60, backoff: { base: 1 }, maxAttempts: 2 }),
    other: job(),
  },
});

function enter(trx: Transaction<TestTables>, entry: string) {
  return trx.insertInto("ledger").values({ entry, job: null }).execute();
}

describe("a transactional handler", () => {
  test("commits its writes and the completion together", async () => {
    const written = createGate();
    const { events } = await workers.start({
      queue,
      concurrency: 5,
      handlers: {
        write: {
          transactional: true,
          run: async (_job, { trx }) => {
            await enter(trx, "written");
            await written.pass();
          },
        },
      },
    });
    const { id } = await queue.enqueue(workers.db, "write", null);
    await written.reached;
    expect(await workers.ledger()).toEqual([]);
    expect(await workers.job(id)).toMatchObject({ status: "running" });
    written.open();
    await events.until("job.completed");
    expect(await workers.ledger()).toEqual(["written"]);
    expect(await workers.job(id)).toMatchObject({ status: "done", attempts: 1 });
    expect(events.typesFor(id)).toEqual(["job.started", "job.completed"]);
  });

  test("that throws takes its writes back, and the failure is recorded all the same", async () => {
    const { events } = await workers.start({
      queue,
      concurrency: 5,
      handlers: {
        write: {
          transactional: true,
          run: async ({ attempt }, { trx }) => {
            await enter(trx, `attempt ${attempt}`);
            if (attempt < 3) throw new Error("not yet");
          },
        },
      },
    });
    const { id } = await queue.enqueue(workers.db, "write", null);
    await events.until("job.completed");
    expect(await workers.ledger()).toEqual(["attempt 3"]);
    expect((await workers.job(id)).errors.map(({ attempt, message }) => [attempt, message])).toEqual([
      [1, "not yet"],
      [2, "not yet"],
    ]);
  });

  test("that snoozes commits its writes, and gives its attempt back", async () => {
    const { events } = await workers.start({
      queue,
      concurrency: 5,
      handlers: {
        write: {
          transactional: true,
          run: async (_job, { trx }) => {
            await enter(trx, "step");
            return (await workers.ledger()).length === 0 ? snooze(1) : undefined;
          },
        },
      },
    });
    const { id } = await queue.enqueue(workers.db, "write", null);
    await events.until("job.completed");
    expect(await workers.ledger()).toEqual(["step", "step"]);
    expect(await workers.job(id)).toMatchObject({ status: "done", attempts: 1, claims: 2 });
    expect(events.typesFor(id)).toEqual(["job.started", "job.snoozed", "job.started", "job.completed"]);
  });

  test("leaves nothing behind of a kind that is not kept", async () => {
    const { events } = await workers.start({
      queue,
      concurrency: 5,
      handlers: { unkept: { transactional: true, run: async (_job, { trx }) => void (await enter(trx, "x")) } },
    });
    await queue.enqueue(workers.db, "unkept", null);
    await events.until("job.completed");
    expect(await workers.jobs()).toEqual([]);
    expect(await workers.ledger()).toEqual(["x"]);
  });

  test("that catches a statement that failed has failed: its transaction cannot commit", async () => {
    const { events } = await workers.start({
      queue,
      concurrency: 5,
      handlers: {
        write: {
          transactional: true,
          run: async ({ attempt }, { trx }) => {
            await enter(trx, `attempt ${attempt}`);
            if (attempt === 1) await sql`select 1 / 0`.execute(trx).catch(() => {});
          },
        },
      },
    });
    const { id } = await queue.enqueue(workers.db, "write", null);
    await events.until("job.completed");
    expect(await workers.ledger()).toEqual(["attempt 2"]);
    expect((await workers.job(id)).last_error).toContain("current transaction is aborted");
  });

  test.each([
    [
      "claimed by another",
      "update queue.jobs set claims = claims + 1, worker = 'thief', locked_until = now() + interval '1 hour' where id = $1",
      "running",
    ],
    [
      "of another boot by the same count",
      "update queue.jobs set worker = 'thief', locked_until = now() + interval '1 hour' where id = $1",
      "running",
    ],
    [
      "returned by a sweep",
      "update queue.jobs set status = 'queued', locked_until = null, run_at = now() + interval '1 hour' where id = $1",
      "queued",
    ],
  ])("whose job is %s meanwhile takes everything back, and says so", async (_case, steal, status) => {
    const written = createGate();
    const { events } = await workers.start({
      queue,
      concurrency: 5,
      handlers: {
        write: {
          transactional: true,
          run: async (_job, { trx }) => {
            await enter(trx, "stolen");
            await written.pass();
          },
        },
      },
    });
    const { id } = await queue.enqueue(workers.db, "write", null);
    await written.reached;
    await workers.sql(steal, [id]);
    written.open();
    const { error } = await events.until("job.lease-lost");
    expect(QueueError.is(error, "LEASE_LOST") && error.jobId).toBe(id);
    expect(await workers.ledger()).toEqual([]);
    expect(await workers.job(id)).toMatchObject({ status, last_error: null });
    expect(events.typesFor(id)).toEqual(["job.started", "job.lease-lost"]);
  });

  test("whose job is cancelled meanwhile takes everything back", async () => {
    const written = createGate();
    const { events } = await workers.start({
      queue,
      concurrency: 5,
      handlers: {
        write: {
          transactional: true,
          run: async (_job, { trx }) => {
            await enter(trx, "cancelled");
            await written.pass();
          },
        },
      },
    });
    const { id } = await queue.enqueue(workers.db, "write", null);
    await written.reached;
    await queue.admin(workers.db).cancel(id);
    written.open();
    await events.until("job.cancelled");
    expect(await workers.ledger()).toEqual([]);
    expect(await workers.job(id)).toMatchObject({ status: "cancelled" });
  });

  test("enqueues in its own transaction: the next job exists if and only if this one is done", async () => {
    const { events } = await workers.start({
      queue,
      concurrency: 5,
      handlers: {
        write: {
          transactional: true,
          run: async ({ attempt }, { trx }) => {
            await queue.enqueue(trx, "other", null);
            if (attempt === 1) throw new Error("the first is undone");
          },
        },
        other: () => {},
      },
    });
    await queue.enqueue(workers.db, "write", null);
    await events.until("job.completed", 2);
    expect((await workers.jobs()).map(({ kind, status }) => [kind, status])).toEqual([
      ["write", "done"],
      ["other", "done"],
    ]);
  });
});

describe("a transactional handler that ignores its timeout", () => {
  test("commits nothing when it ends within a lease", async () => {
    const gate = createGate();
    const { events } = await workers.start({
      queue,
      concurrency: 5,
      handlers: {
        timed: {
          transactional: true,
          run: async ({ attempt }, { trx, signal }) => {
            if (attempt === 1) {
              await untilAborted(signal);
              gate.open();
            }
            await enter(trx, `attempt ${attempt}`);
          },
        },
      },
    });
    await queue.enqueue(workers.db, "timed", null);
    await events.until("job.completed");
    expect(await workers.ledger()).toEqual(["attempt 2"]);
  });

  test.each([
    ["the Kysely of these tests", () => workers.db],
    ["a Kysely that lets a transaction be used after its end", openOldKysely],
  ])("commits nothing either when it goes on after it is no longer waited for, with %s", async (_which, openDb) => {
    const first = createGate();
    const ended = createGate();
    const { events } = await workers.start({
      queue,
      db: openDb(),
      concurrency: 2,
      lease: 200,
      handlers: {
        timed: {
          transactional: true,
          run: async ({ attempt }, { trx }) => {
            if (attempt === 1) await first.pass();
            // The first attempt comes here when its job is done already: what it writes now must be committed by nobody.
            await enter(trx, `attempt ${attempt}`).catch(() => {});
            if (attempt === 1) void ended.pass();
          },
        },
      },
    });
    const { id } = await queue.enqueue(workers.db, "timed", null);
    await events.untilFor(id, "job.completed");
    first.open();
    await ended.reached;
    expect(await workers.ledger()).toEqual(["attempt 2"]);
    // Attempt by attempt: the claim of the second may be answered before the outcome of the first is.
    const typesOf = (attempt: number) =>
      events.all.filter((event) => "attempt" in event && event.attempt === attempt).map(({ type }) => type);
    expect(events.typesFor(id)).toHaveLength(4);
    expect(typesOf(1)).toEqual(["job.started", "job.failed"]);
    expect(typesOf(2)).toEqual(["job.started", "job.completed"]);
  });
});

function openOldKysely(): TestKysely {
  // By shape, as an application with another copy has it.
  return new Kysely0285<TestTables>({ dialect: new PostgresDialect0285({ pool: workers.database.newPool() }) }) as unknown as TestKysely;
}
