import { createQueue, job } from "@queue/core";
import { useTestDatabase } from "@queue/test-database";
import type { Kysely } from "kysely";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { kyselyOn } from "./support/kysely-on.js";
import { openSession } from "./support/session.js";
import { seededRandom } from "./support/seeded-random.js";
import { rejectionOf } from "./support/thrown-by.js";
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
  await database.pool.query("truncate queue.jobs, queue.jobs_archive, queue.lanes");
});

async function enqueue(...payloads: number[]): Promise<string[]> {
  const results = await queue.enqueueMany(
    db,
    payloads.map((payload) => ({ kind: "a", payload })),
  );
  return results.map(({ id }) => id);
}

/** Jobs that run here, in the order of their ids. */
async function run(...payloads: number[]) {
  await enqueue(...payloads);
  return (await worker.claim({ limit: payloads.length })).toSorted((a, b) => Number(a.id) - Number(b.id));
}

const idsOf = (jobs: readonly { readonly id: string }[]) => jobs.map(({ id }) => id).toSorted((a, b) => Number(a) - Number(b));

async function rows(table: string): Promise<Record<string, unknown>[]> {
  return (await database.pool.query(`select * from queue.${table} order by id`)).rows;
}

describe("completing and claiming in one statement", () => {
  test("does both, and says both", async () => {
    const done = await run(1, 2);
    const due = await enqueue(3, 4, 5);
    const answer = await worker.completeAndClaim(done, { limit: 2 });
    expect([...answer.completed].toSorted()).toEqual(idsOf(done).toSorted());
    expect(idsOf(answer.claimed)).toEqual(due.slice(0, 2));
    expect(answer).toMatchObject({ now: expect.stringMatching(/^\d{16}$/), paused: [] });
    expect((await rows("jobs_archive")).map(({ id, status, attempts, worker: by }) => [id, status, attempts, by])).toEqual(
      done.map(({ id }) => [id, "done", 1, "w1"]),
    );
    expect((await rows("jobs")).map(({ id, status, attempts, claims, worker: by }) => [id, status, attempts, claims, by])).toEqual([
      [due[0], "running", 1, 1, "w1"],
      [due[1], "running", 1, 1, "w1"],
      [due[2], "queued", 0, 0, null],
    ]);
  });

  test("says of each job that it claims all that the claim alone says", async () => {
    const [done] = await run(1);
    if (done === undefined) throw new Error("Nothing was due.");
    await queue.enqueue(db, "a", 7, { key: "k", maxAttempts: 3 });
    const together = (await worker.completeAndClaim([done])).claimed;
    await database.pool.query("update queue.jobs set status = 'queued', attempts = 0, claims = 0");
    expect(together).toEqual(await worker.claim());
  });

  test("does either alone when there is nothing of the other", async () => {
    const [done] = await run(1);
    if (done === undefined) throw new Error("Nothing was due.");
    expect(await worker.completeAndClaim([done])).toMatchObject({ completed: [done.id], claimed: [] });
    const [due] = await enqueue(2);
    const answer = await worker.completeAndClaim([]);
    expect([answer.completed, idsOf(answer.claimed)]).toEqual([[], [due]]);
    expect(await worker.completeAndClaim([])).toMatchObject({ completed: [], claimed: [] });
  });

  test("keeps what is to be kept, and no row of what is not", async () => {
    const done = await run(1, 2, 3);
    const answer = await worker.run(worker.statements.completeAndClaim, {
      ids: `{${idsOf(done).join(",")}}`,
      fences: "{1,1,1}",
      keeps: "{-1,0,60000}",
      worker: "w1",
      groups: "[]",
      kinds: "{}",
      limit: 1,
      leaseMs: 1_000,
    });
    expect(answer).toHaveLength(1);
    expect(idsOf((await rows("jobs_archive")) as { id: string }[])).toEqual(idsOf(done).slice(1));
  });

  test("never claims what it completes, not even when the key, the lane and the kind are the same", async () => {
    const done = await run(1, 2, 3);
    expect(await worker.completeAndClaim(done, { limit: 10 })).toMatchObject({ claimed: [] });
    expect(await rows("jobs")).toEqual([]);
  });

  test("claims what the jobs enqueued that it completes, once that is committed", async () => {
    const done = await run(1);
    await using session = await openSession(database.url);
    await session.query("begin");
    const { id } = await queue.enqueue(session.executor, "a", 2);
    const [next] = await enqueue(3);
    expect(idsOf((await worker.completeAndClaim(done)).claimed)).toEqual([next]);
    await session.query("commit");
    expect(idsOf((await worker.completeAndClaim([])).claimed)).toEqual([id]);
  });

  test("lets the fence refuse what belongs to somebody else, and does the rest", async () => {
    const [mine, stolen, again, gone] = await run(1, 2, 3, 4);
    if (mine === undefined || stolen === undefined || again === undefined || gone === undefined) throw new Error("Nothing was due.");
    await database.pool.query("update queue.jobs set worker = 'w2' where id = $1", [stolen.id]);
    await database.pool.query("update queue.jobs set claims = 2 where id = $1", [again.id]);
    await database.pool.query("delete from queue.jobs where id = $1", [gone.id]);
    const [due] = await enqueue(5);
    const answer = await worker.completeAndClaim([mine, stolen, again, gone]);
    expect([answer.completed, idsOf(answer.claimed)]).toEqual([[mine.id], [due]]);
    expect((await rows("jobs")).map(({ id, status }) => [id, status])).toEqual([
      [stolen.id, "running"],
      [again.id, "running"],
      [due, "running"],
    ]);
  });

  test("passes over locked rows of both sorts, and waits for nobody", async () => {
    const [first, locked, last] = await run(1, 2, 3);
    if (first === undefined || locked === undefined || last === undefined) throw new Error("Nothing was due.");
    const due = await enqueue(4, 5, 6);
    await using session = await openSession(database.url);
    await session.query("begin");
    await session.query("select from queue.jobs where id = any($1::bigint[]) for update", [[locked.id, due[1]]]);
    const answer = await worker.completeAndClaim([first, locked, last]);
    expect([...answer.completed].toSorted()).toEqual([first.id, last.id].toSorted());
    expect(idsOf(answer.claimed)).toEqual([due[0], due[2]]);
    await session.query("rollback");
    const next = await worker.completeAndClaim([locked]);
    expect([next.completed, idsOf(next.claimed)]).toEqual([[locked.id], [due[1]]]);
  });

  test("takes nothing from a paused lane, says so, and completes what ran in it", async () => {
    const done = await run(1);
    await enqueue(2);
    await queue.admin(db).pause("default");
    expect(await worker.completeAndClaim(done)).toMatchObject({ completed: idsOf(done), claimed: [], paused: ["default"] });
  });

  test("does both in one commit: nobody sees the one without the other", async () => {
    const done = await run(1);
    const [due] = await enqueue(2);
    await using session = await openSession(database.url);
    await session.query("begin");
    await workerOn(session.executor).completeAndClaim(done);
    expect((await rows("jobs")).map(({ id, status }) => [id, status])).toEqual([
      [done[0]?.id, "running"],
      [due, "queued"],
    ]);
    expect(await rows("jobs_archive")).toEqual([]);
    await session.query("commit");
    expect((await rows("jobs")).map(({ id, status }) => [id, status])).toEqual([[due, "running"]]);
    expect(await rows("jobs_archive")).toHaveLength(1);
    const { rows: transactions } = await database.pool.query(
      "select (select xmin from queue.jobs)::text = (select xmin from queue.jobs_archive)::text as is_one",
    );
    expect(transactions).toEqual([{ is_one: true }]);
  });
});

describe("when it fails, neither is done", () => {
  test.each([
    ["at the archive", "jobs_archive", "insert", "new.status = 'done'"],
    ["at the claim", "jobs", "update", "new.status = 'running'"],
    ["at the completion", "jobs", "delete", "true"],
  ])("%s", async (_where, table, event, condition) => {
    const done = await run(1);
    await enqueue(2);
    const before = await rows("jobs");
    await database.pool.query(
      `create function refuse() returns trigger language plpgsql as $$
         begin if ${condition} then raise exception 'refused' using errcode = 'check_violation'; end if; return new; end $$;
       create trigger refuse before ${event} on queue.${table} for each row execute function refuse()`,
    );
    try {
      expect(await rejectionOf(worker.completeAndClaim(done))).toMatchObject({ code: "23514" });
      expect(await rows("jobs")).toEqual(before);
      expect(await rows("jobs_archive")).toEqual([]);
    } finally {
      await database.pool.query("drop function refuse() cascade");
    }
    expect(await worker.completeAndClaim(done)).toMatchObject({ completed: idsOf(done), claimed: [{ payload: "2" }] });
  });
});

test("eight workers that complete and claim in one statement end every one of 3,000 jobs exactly once, with heartbeats between", async () => {
  await enqueue(...Array.from({ length: 3_000 }, (_, n) => n));
  const pool = database.newPool({ max: 12 });
  const claimed: string[] = [];
  const completed: string[] = [];
  await Promise.all(
    Array.from({ length: 8 }, async (_, n) => {
      const random = seededRandom(n);
      const me = workerOn(kyselyOn(pool), { worker: `w${n}` });
      let mine: { id: string; claims: number }[] = [];
      for (;;) {
        const sorted = mine.toSorted((a, b) => Number(a.id) - Number(b.id));
        const [answer] = await Promise.all([
          me.completeAndClaim(sorted, { limit: 1 + Math.floor(random() * 40) }),
          sorted.length > 0 && random() < 0.3 ? me.extend(sorted) : undefined,
        ]);
        completed.push(...answer.completed);
        claimed.push(...answer.claimed.map(({ id }) => id));
        // A heartbeat may have had some of them locked: they are tried again with the next.
        const skipped = sorted.filter(({ id }) => !answer.completed.includes(id));
        mine = [...skipped, ...answer.claimed];
        if (mine.length === 0) return;
      }
    }),
  );
  expect([claimed.length, new Set(claimed).size]).toEqual([3_000, 3_000]);
  expect([completed.length, new Set(completed).size]).toEqual([3_000, 3_000]);
  expect(await rows("jobs")).toEqual([]);
  await pool.end();
});
