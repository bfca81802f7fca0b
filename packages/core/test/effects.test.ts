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
  const [record, ...others] = await target.run(target.statements.beginEffect, { ...effect(attempt, jobId), worker: "w1", takeOver });
  expect(others).toEqual([]);
  return record;
}

/** The job is claimed again: the attempt after this one. */
async function nextAttempt({ id, claims }: Attempt): Promise<Attempt> {
  await database.pool.query("update queue.jobs set claims = $2 where id = $1", [id, claims + 1]);
  return { id, claims: claims + 1 };
}

const finish = (attempt: Attempt) => worker.run(worker.statements.finishEffect, effect(attempt));
const forget = (attempt: Attempt) => worker.run(worker.statements.forgetEffect, effect(attempt));
const owner = ({ id, claims }: Attempt) => `${id}/${claims}`;

describe("a delivery record", () => {
  test("is written once: the first one begins, every other one learns how far it is", async () => {
    const attempt = await run();
    const known = { begun: false, done: false, owner: owner(attempt), fenced: false };
    expect(await begin(attempt)).toEqual({ ...known, begun: true, owner_running: true });
    expect(await begin(attempt)).toEqual({ ...known, owner_running: true });
    const later = await nextAttempt(attempt);
    expect(await begin(later)).toEqual({ ...known, owner_running: false });
    expect(await finish(attempt)).toHaveLength(1);
    expect(await begin(later)).toEqual({ ...known, done: true, owner_running: false });
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
    const next = await nextAttempt(lost);
    expect(await begin(next)).toEqual({ begun: false, done: false, owner: owner(lost), owner_running: false, fenced: false });
    expect((await begin(next, { takeOver: "1/99" }))?.begun).toBe(false);
    expect(await begin(next, { takeOver: owner(lost) })).toMatchObject({ begun: true, owner: owner(next) });
    expect((await begin(await nextAttempt(next), { takeOver: owner(lost) }))?.begun).toBe(false);
  });

  test("that is done is never taken over", async () => {
    const attempt = await run();
    await begin(attempt);
    await finish(attempt);
    expect(await begin(await nextAttempt(attempt), { takeOver: owner(attempt) })).toMatchObject({ begun: false, done: true });
  });

  test.each([
    ["is claimed again", "update queue.jobs set claims = 2"],
    ["is another worker's", "update queue.jobs set worker = 'w2'"],
    ["was returned by a sweep", "update queue.jobs set status = 'queued'"],
    ["is done, and its record gone with it", "delete from queue.jobs"],
  ])("is not begun by an attempt whose job %s", async (_what, lose) => {
    const attempt = await run();
    await database.pool.query(lose);
    expect(await begin(attempt)).toMatchObject({ begun: false, fenced: true });
    expect((await database.pool.query("select from queue.effects")).rowCount).toBe(0);
  });

  test("is finished and forgotten by the attempt that began it only, and a done one stays", async () => {
    const attempt = await run();
    const other = { id: attempt.id, claims: 2 };
    await begin(attempt);
    expect(await finish(other)).toEqual([]);
    expect(await forget(other)).toEqual([]);
    expect(await forget(attempt)).toHaveLength(1);
    await nextAttempt(attempt);
    expect((await begin(other))?.begun).toBe(true);
    expect(await finish(other)).toHaveLength(1);
    expect(await finish(other)).toHaveLength(1);
    expect(await forget(other)).toEqual([]);
  });

  test("that two begin at the same moment: the second waits, and asks again when nothing came back", async () => {
    const [first, second] = [await run(), await run()];
    await using one = await openSession(database.url);
    await using two = await openSession(database.url);
    await one.query("begin");
    expect((await begin(first, { jobId: "0", target: workerOn(one.executor) }))?.begun).toBe(true);
    const waiting = begin(second, { jobId: "0", target: workerOn(two.executor) });
    await untilBlocked(database.pool, two);
    await one.query("commit");
    expect(await waiting).toBeUndefined();
    expect(await begin(second, { jobId: "0" })).toMatchObject({ begun: false, owner: owner(first) });
  });

  test("that the first one rolls back is written by the second", async () => {
    const [first, second] = [await run(), await run()];
    await using one = await openSession(database.url);
    await using two = await openSession(database.url);
    await one.query("begin");
    await begin(first, { jobId: "0", target: workerOn(one.executor) });
    const waiting = begin(second, { jobId: "0", target: workerOn(two.executor) });
    await untilBlocked(database.pool, two);
    await one.query("rollback");
    expect(await waiting).toMatchObject({ begun: true, owner: owner(second) });
  });
});
