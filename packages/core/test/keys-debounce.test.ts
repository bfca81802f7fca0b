import { createQueue, type EnqueueOptions, job } from "@queue/core";
import { useTestDatabase } from "@queue/test-database";
import { beforeEach, describe, expect, test } from "vitest";
import { kyselyOn } from "./support/kysely-on.js";
import { openSession, type Session, untilBlocked } from "./support/session.js";
import { workerOn } from "./support/worker-on.js";

const database = useTestDatabase();
const queue = createQueue({ jobs: { reindex: job<number>() } });
const options: EnqueueOptions = { key: "p1", keyHolds: "until-started" };

beforeEach(async () => {
  await database.pool.query("truncate queue.jobs, queue.job_keys");
});

const claim = ({ executor }: Session) => workerOn(executor).claim({ kinds: ["reindex"] });

describe("a debounced job starts after the business writes of every enqueue that was merged into it", () => {
  test("a duplicate locks the job until its transaction ends: a claim in between skips it", async () => {
    await using producer = await openSession(database.url);
    await using worker = await openSession(database.url);
    const first = await queue.enqueue(kyselyOn(database.pool), "reindex", 1, options);
    await producer.query("begin");
    expect(await queue.enqueue(producer.executor, "reindex", 2, options)).toEqual({ id: first.id, inserted: false });
    expect(await claim(worker)).toEqual([]);
    await producer.query("commit");
    expect(await claim(worker)).toMatchObject([{ id: first.id }]);
  });

  test("also when it is rolled back", async () => {
    await using producer = await openSession(database.url);
    const first = await queue.enqueue(kyselyOn(database.pool), "reindex", 1, options);
    await producer.query("begin");
    await queue.enqueueMany(producer.executor, [{ kind: "reindex", payload: 2, options }]);
    expect(await claim(producer)).toHaveLength(1);
    await producer.query("rollback");
    await using worker = await openSession(database.url);
    expect(await claim(worker)).toMatchObject([{ id: first.id }]);
  });

  test("two producers that are merged into one job do not wait for each other, and the claim waits for both", async () => {
    await using one = await openSession(database.url);
    await using two = await openSession(database.url);
    await using worker = await openSession(database.url);
    const first = await queue.enqueue(kyselyOn(database.pool), "reindex", 1, options);
    await one.query("begin");
    await two.query("begin");
    expect(await queue.enqueue(one.executor, "reindex", 2, options)).toEqual({ id: first.id, inserted: false });
    expect(await queue.enqueue(two.executor, "reindex", 3, options)).toEqual({ id: first.id, inserted: false });
    await one.query("commit");
    expect(await claim(worker)).toEqual([]);
    await two.query("commit");
    expect(await claim(worker)).toHaveLength(1);
  });

  test("a claim that came first: the enqueue waits for it, and inserts a new job", async () => {
    await using worker = await openSession(database.url);
    await using producer = await openSession(database.url);
    const first = await queue.enqueue(kyselyOn(database.pool), "reindex", 1, options);
    await worker.query("begin");
    expect(await claim(worker)).toHaveLength(1);
    const second = queue.enqueue(producer.executor, "reindex", 2, options);
    await untilBlocked(database.pool, producer);
    await worker.query("commit");
    const { id, inserted } = await second;
    expect(inserted).toBe(true);
    expect(id).not.toBe(first.id);
  });

  test("a claim that came first and failed: the enqueue is merged into the job that still waits", async () => {
    await using worker = await openSession(database.url);
    await using producer = await openSession(database.url);
    const first = await queue.enqueue(kyselyOn(database.pool), "reindex", 1, options);
    await worker.query("begin");
    await claim(worker);
    await producer.query("begin");
    const second = queue.enqueue(producer.executor, "reindex", 2, options);
    await untilBlocked(database.pool, producer);
    await worker.query("rollback");
    expect(await second).toEqual({ id: first.id, inserted: false });
    expect(await claim(worker)).toEqual([]);
    await producer.query("commit");
    expect(await claim(worker)).toHaveLength(1);
  });

  test("an enqueue that waited for the first one of the key is merged into that, and locks it", async () => {
    await using first = await openSession(database.url);
    await using second = await openSession(database.url);
    await first.query("begin");
    const { id } = await queue.enqueue(first.executor, "reindex", 1, options);
    await second.query("begin");
    const merged = queue.enqueue(second.executor, "reindex", 2, options);
    await untilBlocked(database.pool, second);
    await first.query("commit");
    expect(await merged).toEqual({ id, inserted: false });
    expect(await claim(first)).toEqual([]);
    await second.query("commit");
    expect(await claim(first)).toHaveLength(1);
  });

  test("a duplicate of a key that is held for a time, or until the job ended, locks nothing", async () => {
    await using producer = await openSession(database.url);
    await using worker = await openSession(database.url);
    for (const keyHolds of ["1d", "until-ended"] as const) {
      await queue.enqueue(kyselyOn(database.pool), "reindex", 1, { key: keyHolds, keyHolds });
      await producer.query("begin");
      await queue.enqueue(producer.executor, "reindex", 2, { key: keyHolds, keyHolds });
      expect(await claim(worker)).toHaveLength(1);
      await producer.query("commit");
    }
  });
});

describe("a key that a rival takes over between the snapshot and the conflict", () => {
  /** The enqueue of `producer` has seen a key that nobody held, and waits for `rival`, which took it over. */
  async function contest(producer: Session, rival: Session, beforeSecondLook: () => Promise<unknown> = () => Promise.resolve()) {
    const old = await queue.enqueue(kyselyOn(database.pool), "reindex", 0, options);
    await queue.admin(kyselyOn(database.pool)).cancel(old.id);
    await rival.query("begin");
    const rivals = await queue.enqueue(rival.executor, "reindex", 1, options);
    await producer.query("begin");
    let looks = 0;
    const executor = {
      ...producer.executor,
      execute: async <R>(query: { sql: string; parameters: readonly unknown[] }) => {
        if (/"job_keys"|enqueue_keyed_jobs_/.test(query.sql) && ++looks === 2) await beforeSecondLook();
        return producer.executor.execute<R>(query);
      },
    };
    const mine = queue.enqueue(executor, "reindex", 2, options);
    await untilBlocked(database.pool, producer);
    return { rivals, mine, looks: () => looks };
  }

  test("is looked at again: merged into the rival's job, which is then locked", async () => {
    await using producer = await openSession(database.url);
    await using rival = await openSession(database.url);
    const { rivals, mine, looks } = await contest(producer, rival);
    await rival.query("commit");
    expect(await mine).toEqual({ id: rivals.id, inserted: false });
    expect(looks()).toBe(2);
    expect(await claim(rival)).toEqual([]);
    await producer.query("commit");
    expect(await claim(rival)).toHaveLength(1);
  });

  test("and is taken over in its turn when the rival's job was claimed meanwhile", async () => {
    await using producer = await openSession(database.url);
    await using rival = await openSession(database.url);
    const { rivals, mine } = await contest(producer, rival, async () => expect(await claim(rival)).toHaveLength(1));
    await rival.query("commit");
    const { id, inserted } = await mine;
    expect(inserted).toBe(true);
    expect(id).not.toBe(rivals.id);
    await producer.query("commit");
  });

  test("and is free when the rival rolled back", async () => {
    await using producer = await openSession(database.url);
    await using rival = await openSession(database.url);
    const { mine, looks } = await contest(producer, rival);
    await rival.query("rollback");
    expect((await mine).inserted).toBe(true);
    expect(looks()).toBe(1);
    await producer.query("commit");
    const { rows } = await database.pool.query("select count(*)::int as count from queue.jobs");
    expect(rows).toEqual([{ count: 1 }]);
  });
});
