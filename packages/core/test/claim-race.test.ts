import { createQueue, job } from "@queue/core";
import { useTestDatabase } from "@queue/test-database";
import { beforeEach, describe, expect, test } from "vitest";
import { kyselyOn } from "./support/kysely-on.js";
import { seededRandom } from "./support/seeded-random.js";
import { workerOn } from "./support/worker-on.js";

const database = useTestDatabase();
const queue = createQueue({ jobs: { a: job<number>() } });
const lanes = ["l0", "l1", "l2"];

beforeEach(async () => {
  await database.pool.query("truncate queue.jobs, queue.job_keys, queue.jobs_archive");
});

async function enqueueMany(count: number): Promise<void> {
  await queue.enqueueMany(
    kyselyOn(database.pool),
    Array.from({ length: count }, (_, n) => ({ kind: "a", payload: n, options: { lane: lanes[n % lanes.length] } })),
  );
}

describe("twelve claimers", () => {
  test("over 5,000 jobs never take one twice, and leave none", async () => {
    await enqueueMany(5_000);
    const pool = database.newPool({ max: 12 });
    const claimed: string[] = [];
    await Promise.all(
      Array.from({ length: 12 }, async (_, n) => {
        const random = seededRandom(n);
        const worker = workerOn(kyselyOn(pool), { worker: `w${n}` });
        for (;;) {
          const limit = 1 + Math.floor(random() * 30);
          const rows = await worker.claim({ limit, lanes });
          expect(rows.length).toBeLessThanOrEqual(limit);
          claimed.push(...rows.map(({ id }) => id));
          if (rows.length === 0) return;
        }
      }),
    );
    expect(claimed).toHaveLength(5_000);
    expect(new Set(claimed).size).toBe(5_000);
    await pool.end();
  });

  test("that settle, extend, retry, snooze and cancel what they run, while others sweep, enqueue and clean up, end every job exactly once", async () => {
    await enqueueMany(1_500);
    const pool = database.newPool({ max: 16 });
    const db = kyselyOn(pool);
    const admin = queue.admin(db);
    const settled: string[] = [];
    let isBusy = true;
    const runners = Array.from({ length: 12 }, async (_, n) => {
      const random = seededRandom(n);
      const worker = workerOn(db, { worker: `w${n}` });
      for (;;) {
        const rows = await worker.claim({ limit: 20, lanes });
        if (rows.length === 0) return;
        const sorted = rows.toSorted((x, y) => Number(x.id) - Number(y.id));
        const done = sorted.filter(({ claims }) => claims > 2 || random() < 0.6);
        const again = sorted.filter((row) => !done.includes(row));
        const first = again.shift();
        const [, completed, requeued] = await Promise.all([
          worker.extend(rows),
          worker.completeOwn(done),
          worker.requeueOwn(
            Object.fromEntries(
              again.map(({ id, claims }) => [
                id,
                { fence: claims, status: "queued", delayMs: 0, attemptsBack: random() < 0.5 ? 0 : 1 } as const,
              ]),
            ),
          ),
          first === undefined ? undefined : admin.cancel(first.id).then(({ id }) => settled.push(id)),
        ]);
        settled.push(...completed);
        expect(completed).toHaveLength(done.length);
        expect(requeued).toHaveLength(again.length);
      }
    });
    const sweeper = (async () => {
      const worker = workerOn(db, { worker: "sweeper" });
      while (isBusy) {
        expect(await worker.sweep()).toEqual([]);
        await worker.deleteEnded();
        await queue.enqueue(db, "a", 1, { lane: "unserved", key: "k", keyHolds: "until-started" });
        await worker.lookAhead();
        await admin.health();
      }
    })();
    await Promise.all(runners);
    isBusy = false;
    await sweeper;
    expect(settled).toHaveLength(1_500);
    expect(new Set(settled).size).toBe(1_500);
    const { rows } = await database.pool.query(
      "select (select count(*)::int from queue.jobs) as live, (select count(distinct id)::int from queue.jobs_archive) as ended",
    );
    expect(rows).toEqual([{ live: 1, ended: 1_500 }]);
    await pool.end();
  });
});

test("B30: when the database's default is REPEATABLE READ, a claim that states its level skips instead of failing", async () => {
  await enqueueMany(300);
  const pool = database.newPool({ max: 8, options: "-c default_transaction_isolation=repeatable\\ read" });
  const db = kyselyOn(pool);
  const { rows } = await pool.query("show transaction_isolation");
  expect(rows).toEqual([{ transaction_isolation: "repeatable read" }]);
  const claimed = await Promise.all(
    Array.from({ length: 8 }, async (_, n) => {
      const ids: string[] = [];
      for (;;) {
        const some = await db
          .transaction()
          .setIsolationLevel("read committed")
          .execute((trx) => workerOn(trx, { worker: `w${n}` }).claim({ limit: 10, lanes }));
        if (some.length === 0) return ids;
        ids.push(...some.map(({ id }) => id));
      }
    }),
  );
  expect(new Set(claimed.flat()).size).toBe(300);
  await pool.end();
});
