import { PermanentError, QueueError } from "@queue/core";
import { useTestDatabase } from "@queue/test-database";
import { createTestQueue, DrainError } from "@queue/testing";
import { snooze } from "@queue/worker";
import { Kysely, PostgresDialect, sql } from "kysely";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { queue } from "./support/shop-queue.js";

const database = useTestDatabase();
let db: Kysely<unknown>;
const open = () => createTestQueue(queue, { db });

beforeEach(async () => {
  db ??= new Kysely<unknown>({ dialect: new PostgresDialect({ pool: database.pool }) });
  await sql`truncate queue.jobs, queue.jobs_archive, queue.job_keys`.execute(db);
});
afterAll(() => db.destroy());

describe("drain", () => {
  it("works all that is due, what the jobs enqueue, too, and counts it", async () => {
    const { drain } = await open();
    await queue.enqueue(db, "order.receipt", { id: "1" });
    const result = await drain({
      "order.receipt": ({ payload }) => void queue.enqueue(db, "order.remind", { id: payload.id }),
      "order.remind": () => {},
    });
    expect(result).toEqual({ completed: 2, snoozed: 0, failures: [] });
  });

  it("leaves kinds without a handler, and what is due later", async () => {
    const { drain, admin } = await open();
    await queue.enqueue(db, "tick", null);
    await queue.enqueue(db, "order.remind", { id: "1" }, { delay: "1h" });
    expect(await drain({ "order.remind": () => {} })).toMatchObject({ completed: 0 });
    expect((await admin.jobs({ status: "queued" })).items).toHaveLength(2);
  });

  it("rejects with an error that names kind, job, attempt and cause, after it has worked the rest", async () => {
    const { drain, admin } = await open();
    const bad = await queue.enqueue(db, "order.remind", { id: "1" });
    const good = await queue.enqueue(db, "tick", null);
    const cause = new TypeError("no such customer");
    const error = await drain({
      "order.remind": () => {
        throw cause;
      },
      tick: () => {},
    }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(DrainError);
    expect(QueueError.is(error)).toBe(true);
    expect(error).toMatchObject({ cause, errors: [cause], failures: [{ id: bad.id, kind: "order.remind", attempt: 1, isDead: false }] });
    expect(String(error)).toContain(`"order.remind", job ${bad.id}, attempt 1: TypeError: no such customer`);
    expect(await admin.job(good.id)).toMatchObject({ status: "done" });
  });

  it("says which jobs are dead now, and allows failures when it is told to", async () => {
    const { drain, admin } = await open();
    const { id } = await queue.enqueue(db, "tick", null);
    const { failures } = await drain(
      {
        tick: () => {
          throw new PermanentError("never");
        },
      },
      { failures: "allow" },
    );
    expect(failures).toMatchObject([{ id, kind: "tick", attempt: 1, isDead: true, error: { message: "never" } }]);
    expect((await admin.jobs({ status: "dead" })).items).toMatchObject([{ id, lastError: "never" }]);
  });

  it("names ten failures at most, and has all of them", async () => {
    const { drain } = await open();
    await queue.enqueueMany(
      db,
      Array.from({ length: 12 }, () => ({ kind: "tick", payload: null, options: { maxAttempts: 1 } })),
    );
    const fail = () => {
      throw new Error("no");
    };
    const error = await drain({ tick: fail }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ message: expect.stringContaining("and 2 more") as string, failures: { length: 12 } });
  });

  it("works retries at their times until the job is dead, and moves the clock by exactly what it was told", async () => {
    const { drain, clock, admin } = await open();
    const { id } = await queue.enqueue(db, "order.remind", { id: "1" });
    const fail = () => {
      throw new Error("no");
    };
    const { failures } = await drain({ "order.remind": fail }, { until: "1d", failures: "allow" });
    expect(failures.map(({ attempt, isDead }) => [attempt, isDead])).toEqual([
      [1, false],
      [2, false],
      [3, true],
    ]);
    expect(clock.advancedMs).toBe(86_400_000);
    expect(await admin.job(id)).toMatchObject({ status: "dead", attempts: 3 });
  });

  it("runs what becomes due on the way in the order of the times", async () => {
    const { drain } = await open();
    const order: string[] = [];
    await queue.enqueue(db, "order.remind", { id: "in 3 d" }, { delay: "3d", priority: 0 });
    await queue.enqueue(db, "order.remind", { id: "in 1 h" }, { delay: "1h", priority: 9 });
    await queue.enqueue(db, "tick", null, { delay: "2h" });
    await drain({ "order.remind": ({ payload }) => void order.push(payload.id), tick: () => void order.push("tick") }, { until: "3d" });
    expect(order).toEqual(["in 1 h", "tick", "in 3 d"]);
  });

  it("works snoozes, which spend no attempt", async () => {
    const { drain, admin } = await open();
    const { id } = await queue.enqueue(db, "tick", null);
    let starts = 0;
    const result = await drain({ tick: () => (++starts < 3 ? snooze("5m") : undefined) }, { until: "10m" });
    expect(result).toEqual({ completed: 1, snoozed: 2, failures: [] });
    expect(await admin.job(id)).toMatchObject({ status: "done", attempts: 1 });
  });

  it("gives handlers the logger, and tells what the worker tells", async () => {
    const { drain } = await open();
    await queue.enqueue(db, "tick", null);
    const lines: string[] = [];
    const events: string[] = [];
    const say = (_details: object, message: string) => void lines.push(message);
    await drain(
      { tick: (_job, { log }) => log.info({}, "ticking") },
      { logger: { debug: say, info: say, warn: say, error: say }, onEvent: ({ type }) => events.push(type) },
    );
    expect(lines).toContain("ticking");
    expect(events).toContain("job.completed");
  });

  it("refuses to move the clock, or to drain again, while it works", async () => {
    const { drain, clock } = await open();
    await queue.enqueue(db, "tick", null);
    const refusals: unknown[] = [];
    await drain({
      tick: async () => {
        refusals.push(await clock.advance("1h").catch((error: unknown) => error), await drain({}).catch((error: unknown) => error));
      },
    });
    expect(refusals.map((error) => QueueError.is(error, "INVALID_OPTION"))).toEqual([true, true]);
  });

  it.each([
    ["failures", { failures: "ignore" }],
    ["until", { until: "soon" }],
    ["until", { until: -1 }],
    ["concurrency", { concurrency: 0 }],
    ["untill", { untill: "1h" }],
  ])("refuses a wrong %s", async (name, options) => {
    const { drain } = await open();
    const error = await drain({}, options as object).catch((reason: unknown) => reason);
    expect(QueueError.is(error, "INVALID_OPTION")).toBe(true);
    expect(String(error)).toContain(name);
  });

  it("refuses a handler of a kind that the queue does not have", async () => {
    const { drain } = await open();
    const error = await drain({ tock: () => {} } as object).catch((reason: unknown) => reason);
    expect(QueueError.is(error, "UNKNOWN_KIND")).toBe(true);
  });
});
