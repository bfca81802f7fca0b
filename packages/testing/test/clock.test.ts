import { QueueError } from "@queue/core";
import { useTestDatabase } from "@queue/test-database";
import { createTestQueue } from "@queue/testing";
import { snooze } from "@queue/worker";
import { Kysely, PostgresDialect, sql } from "kysely";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { queue } from "./support/shop-queue.js";

const database = useTestDatabase();
let db: Kysely<unknown>;
const open = () => createTestQueue(queue, { db });

beforeEach(async () => {
  db ??= new Kysely<unknown>({ dialect: new PostgresDialect({ pool: database.pool }) });
  await sql`truncate queue.jobs, queue.jobs_archive, queue.job_keys, queue.effects, queue.workers`.execute(db);
});
afterAll(() => db.destroy());

describe("clock.advance", () => {
  it("makes a job due when its delay has passed, and not before", async () => {
    const { drain, clock } = await open();
    await queue.enqueue(db, "tick", null, { delay: "3d" });
    await clock.advance("71h");
    expect(await drain({ tick: () => {} })).toMatchObject({ completed: 0 });
    await clock.advance("1h");
    expect(await drain({ tick: () => {} })).toMatchObject({ completed: 1 });
    expect(clock.advancedMs).toBe(3 * 86_400_000);
  });

  it("lets retries come back after their back-off", async () => {
    const { drain, clock } = await open();
    await queue.enqueue(db, "order.remind", { id: "1" });
    const handlers = {
      "order.remind": ({ attempt }: { attempt: number }) => {
        if (attempt === 1) throw new Error("no");
      },
    };
    await drain(handlers, { failures: "allow" });
    expect(await drain(handlers)).toMatchObject({ completed: 0 });
    await clock.advance("10m");
    expect(await drain(handlers)).toMatchObject({ completed: 1 });
  });

  it("lets snoozes end", async () => {
    const { drain, clock } = await open();
    await queue.enqueue(db, "tick", null);
    let isReady = false;
    const handlers = { tick: () => (isReady ? undefined : snooze("5m")) };
    await drain(handlers);
    isReady = true;
    expect(await drain(handlers)).toMatchObject({ completed: 0 });
    await clock.advance("5m");
    expect(await drain(handlers)).toMatchObject({ completed: 1 });
  });

  it("lets go of keys that are held for a time, when the time is over", async () => {
    const { drain, clock } = await open();
    const enqueue = async () => (await queue.enqueue(db, "tick", null, { key: "k", keyHolds: "1h" })).inserted;
    expect(await enqueue()).toBe(true);
    await drain({ tick: () => {} });
    await clock.advance("59m");
    expect(await enqueue()).toBe(false);
    await clock.advance("1m");
    expect(await enqueue()).toBe(true);
  });

  it("holds keys that an event releases, however long the event takes", async () => {
    const { drain, clock } = await open();
    const enqueue = async () => (await queue.enqueue(db, "tick", null, { key: "k", keyHolds: "until-ended" })).inserted;
    expect(await enqueue()).toBe(true);
    await clock.advance("365d");
    expect(await enqueue()).toBe(false);
    await drain({ tick: () => {} });
    expect(await enqueue()).toBe(true);
  });

  it("ends leases, so that the job of a worker that died begins again", async () => {
    const { drain, clock } = await open();
    const { id } = await queue.enqueue(db, "tick", null);
    await sql`update queue.jobs set status = 'running', attempts = 1, claims = 1, worker = 'dead', started_at = now(),
      locked_until = now() + interval '30 seconds' where id = ${id}`.execute(db);
    expect(await drain({ tick: () => {} })).toMatchObject({ completed: 0 });
    await clock.advance("30s");
    const { completed, failures } = await drain({ tick: () => {} }, { failures: "allow" });
    expect(completed).toBe(1);
    expect(failures).toMatchObject([{ id, attempt: 1 }]);
  });

  it("keeps the distances of all times of a job, in its history too", async () => {
    const { drain, clock, admin } = await open();
    const { id } = await queue.enqueue(db, "order.remind", { id: "1" });
    const fail = () => {
      throw new Error("no");
    };
    await drain({ "order.remind": fail }, { failures: "allow" });
    const times = async () => {
      const job = await admin.job(id);
      return [job?.createdAt, job?.runAt, job?.startedAt, job?.errors[0]?.at].map((at) => at?.getTime() ?? Number.NaN);
    };
    const before = await times();
    await clock.advance("2d");
    expect(await times()).toEqual(before.map((at) => at - 2 * 86_400_000));
  });

  it("ages the archive, its workers and its delivery records", async () => {
    const { drain, clock, admin } = await open();
    const { id } = await queue.enqueue(db, "tick", null);
    await drain({ tick: async (_job, { once }) => void (await once("mail", () => {})) });
    const finished = (await admin.job(id))?.finishedAt?.getTime() ?? Number.NaN;
    await sql`insert into queue.workers values ('w', now(), now() + interval '1 minute', '{tick}', null, 'host', 1)`.execute(db);
    await clock.advance("10d");
    expect((await admin.job(id))?.finishedAt?.getTime()).toBe(finished - 10 * 86_400_000);
    const { rows } = await sql<object>`select (select expires_at < now() from queue.workers) as worker_left,
      (select started_at < now() - interval '9 days' from queue.effects) as effect_is_old`.execute(db);
    expect(rows).toEqual([{ worker_left: true, effect_is_old: true }]);
  });

  it("works at zero, and refuses to go back", async () => {
    const { clock } = await open();
    await clock.advance(0);
    expect(clock.advancedMs).toBe(0);
    for (const wrong of [-1, "-1d", "soon", Number.NaN, Number.POSITIVE_INFINITY]) {
      const error = await clock.advance(wrong as number).catch((reason: unknown) => reason);
      expect(QueueError.is(error, "INVALID_OPTION")).toBe(true);
    }
  });

  it("works the same in the database of the process", async () => {
    await using test = await createTestQueue(queue);
    await queue.enqueue(test.db, "tick", null, { delay: "3d" });
    await test.clock.advance("3d");
    expect(await test.drain({ tick: () => {} })).toMatchObject({ completed: 1 });
  });
});
