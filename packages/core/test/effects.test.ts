import { createQueue, job } from "@queue/core";
import type { EffectRecord } from "@queue/core/internal";
import { useTestDatabase } from "@queue/test-database";
import type { Kysely } from "kysely";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { kyselyOn } from "./support/kysely-on.js";
import { openSession, untilBlocked } from "./support/session.js";
import { workerOn } from "./support/worker-on.js";

const database = useTestDatabase();
const queue = createQueue({ jobs: { a: job<number>() } });
let db: Kysely<object>;
let worker: ReturnType<typeof workerOn>;

beforeAll(() => {
  db = kyselyOn<object>(database.pool);
  worker = workerOn(db);
});

beforeEach(async () => {
  await database.pool.query("truncate queue.jobs, queue.effects");
});

interface Attempt {
  readonly id: string;
  readonly claims: number;
}

async function run(): Promise<Attempt> {
  await queue.enqueue(db, "a", 1);
  const [claimed] = await worker.claim({ limit: 1 });
  if (claimed === undefined) throw new Error("Nothing was due.");
  return claimed;
}

function effect({ id, claims }: Attempt, jobId = id, key = "mail") {
  return { kind: "a", key, jobId, startedBy: id, startedClaims: claims };
}

async function begin(attempt: Attempt, { jobId = attempt.id, takeOver = "", target = worker } = {}): Promise<EffectRecord | undefined> {
  const [record, ...others] = await target.run(target.statements.beginEffect, { ...effect(attempt, jobId), takeOver });
  expect(others).toEqual([]);
  return record;
}

const finish = (attempt: Attempt) => worker.run(worker.statements.finishEffect, effect(attempt));
const forget = (attempt: Attempt) => worker.run(worker.statements.forgetEffect, effect(attempt));
const owner = ({ id, claims }: Attempt) => `${id}/${claims}`;

describe("a delivery record", () => {
  test("is written once: the first one begins, every other one learns how far it is", async () => {
    const attempt = await run();
    expect(await begin(attempt)).toEqual({ begun: true, done: false, owner: owner(attempt), owner_running: true });
    const later = { id: attempt.id, claims: 2 };
    expect(await begin(later)).toEqual({ begun: false, done: false, owner: owner(attempt), owner_running: true });
    expect(await finish(attempt)).toHaveLength(1);
    expect(await begin(later)).toEqual({ begun: false, done: true, owner: owner(attempt), owner_running: true });
  });

  test("is that of one job, or, with job 0, of all jobs of the kind", async () => {
    const [one, two] = [await run(), await run()];
    expect((await begin(one))?.begun).toBe(true);
    expect((await begin(two))?.begun).toBe(true);
    expect((await begin(one, { jobId: "0" }))?.begun).toBe(true);
    expect(await begin(two, { jobId: "0" })).toMatchObject({ begun: false, owner: owner(one) });
  });

  test("of an attempt that no longer runs can be taken over, once, by whoever names its owner", async () => {
    const lost = await run();
    await begin(lost);
    await database.pool.query("update queue.jobs set claims = 2");
    const next = { id: lost.id, claims: 2 };
    expect(await begin(next)).toEqual({ begun: false, done: false, owner: owner(lost), owner_running: false });
    expect((await begin(next, { takeOver: "1/99" }))?.begun).toBe(false);
    expect(await begin(next, { takeOver: owner(lost) })).toEqual({ begun: true, done: false, owner: owner(next), owner_running: true });
    expect((await begin({ id: lost.id, claims: 3 }, { takeOver: owner(lost) }))?.begun).toBe(false);
  });

  test("that is done is never taken over", async () => {
    const attempt = await run();
    await begin(attempt);
    await finish(attempt);
    expect(await begin({ id: attempt.id, claims: 2 }, { takeOver: owner(attempt) })).toMatchObject({ begun: false, done: true });
  });

  test("is finished and forgotten by the attempt that began it only, and a done one stays", async () => {
    const attempt = await run();
    const other = { id: attempt.id, claims: 2 };
    await begin(attempt);
    expect(await finish(other)).toEqual([]);
    expect(await forget(other)).toEqual([]);
    expect(await forget(attempt)).toHaveLength(1);
    expect((await begin(other))?.begun).toBe(true);
    expect(await finish(other)).toHaveLength(1);
    expect(await finish(other)).toHaveLength(1);
    expect(await forget(other)).toEqual([]);
  });

  test("that two begin at the same moment: the second waits, and asks again when nothing came back", async () => {
    const attempt = await run();
    await using one = await openSession(database.url);
    await using two = await openSession(database.url);
    await one.query("begin");
    expect((await begin(attempt, { target: workerOn(one.executor) }))?.begun).toBe(true);
    const second = begin({ id: attempt.id, claims: 2 }, { target: workerOn(two.executor) });
    await untilBlocked(database.pool, two);
    await one.query("commit");
    expect(await second).toBeUndefined();
    expect(await begin({ id: attempt.id, claims: 2 })).toMatchObject({ begun: false, owner: owner(attempt) });
  });

  test("that the first one rolls back is written by the second", async () => {
    const attempt = await run();
    await using one = await openSession(database.url);
    await using two = await openSession(database.url);
    await one.query("begin");
    await begin(attempt, { target: workerOn(one.executor) });
    const second = begin({ id: attempt.id, claims: 2 }, { target: workerOn(two.executor) });
    await untilBlocked(database.pool, two);
    await one.query("rollback");
    expect(await second).toMatchObject({ begun: true, owner: `${attempt.id}/2` });
  });
});
