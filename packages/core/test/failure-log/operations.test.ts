import { createQueue, job } from "@queue/core";
import { useTestDatabase } from "@queue/test-database";
import type { Kysely } from "kysely";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { kyselyOn } from "../support/kysely-on.js";
import { workerOn } from "../support/worker-on.js";

const database = useTestDatabase();
const queue = createQueue({ jobs: { a: job<number>(), b: job<number>(), c: job<number>() } });
let db: Kysely<object>;

beforeAll(() => {
  db = kyselyOn<object>(database.pool);
});
beforeEach(async () => {
  await database.pool.query("truncate queue.jobs, queue.jobs_archive, queue.job_keys, queue.workers");
});

/** Jobs in three kinds and two lanes, with everything else of their own: ids, keys, payloads, error texts, times, workers. */
async function fill(count: number): Promise<void> {
  await database.pool.query(
    `insert into queue.jobs (kind, lane, status, payload, idempotency_key, worker, last_error, errors, run_at, locked_until)
     select chr(97 + n % 3), case n % 2 when 0 then 'mail' else 'default' end, (array['queued', 'running', 'dead'])[1 + n % 3]::queue.job_status,
            to_jsonb(n), 'key ' || n, 'worker ' || n, 'error ' || n || md5(n::text), jsonb_build_array(jsonb_build_object('message', n)),
            now() - n * interval '1 second', now() + n * interval '1 second'
       from generate_series(1, $1::int) n`,
    [count],
  );
}

/** Every path of an answer, and every text in it: what a program that turns it into metrics can make labels of. */
function labels(value: unknown, path = ""): string[] {
  if (typeof value === "string") return [`${path}=${value}`];
  if (typeof value !== "object" || value === null) return [path];
  return Object.entries(value).flatMap(([key, inner]) => labels(inner, `${path}.${key}`));
}

describe("B127: what metrics are made of", () => {
  test("is of the same size after a hundred jobs and after ten thousand, each with its own key, error and worker", async () => {
    await fill(100);
    const few = labels(await queue.admin(db).health());
    await fill(9_900);
    const many = labels(await queue.admin(db).health());
    const bounded = (all: readonly string[]) => all.filter((label) => !label.startsWith(".oldestSnapshot"));
    expect(bounded(many)).toEqual(bounded(few));
    expect(many.join("\n")).not.toMatch(/key \d|error \d|worker \d/);
  });

  test("names no more than a few hundred kinds, however many wait that nobody knows", async () => {
    await database.pool.query("insert into queue.jobs (kind) select 'unknown ' || n from generate_series(1, 10000) n");
    expect((await queue.admin(db).health()).kindsWithoutWorker.length).toBeLessThanOrEqual(500);
  });
});

describe("odd rows that another program wrote", () => {
  const odd: [name: string, columns: string, values: string][] = [
    ["a job of the year 4713 before Christ", "run_at, created_at", "'4713-01-01 BC', '4713-01-01 BC'"],
    ["a job that was created at infinity", "created_at", "'infinity'"],
    ["a job that was created before all time", "created_at", "'-infinity'"],
    ["a job of the last year that PostgreSQL has", "run_at, created_at", "now(), '294276-12-31'"],
    ["a job that is due in the last year that PostgreSQL has", "run_at", "'294276-12-31'"],
    ["a job with more attempts than may be", "attempts, max_attempts", "2147483646, 1"],
    ["a job whose attempts cannot be counted any further", "attempts", "2147483647"],
    ["a job whose claims cannot be counted any further", "claims", "2147483647"],
    ["a job of a lane and with a key that are too long for us", "lane, idempotency_key", "repeat('l', 1000), repeat('k', 2000)"],
    ["a job whose errors are no list", "errors", "'{}'"],
    ["a job whose last error is empty", "last_error", "''"],
  ];

  test.each(odd)(
    "%s is refused by the table, or keeps no other job from being claimed, listed and counted",
    async (_name, columns, values) => {
      const inserted = await database.pool
        .query(`insert into queue.jobs (kind, payload, ${columns}) values ('a', '"odd"', ${values})`)
        .then(
          () => true,
          (error: unknown) => {
            expect(error).toMatchObject({ code: "23514" });
            return false;
          },
        );
      await queue.enqueueMany(db, [
        { kind: "a", payload: 1 },
        { kind: "a", payload: 2 },
      ]);
      const claimed = await workerOn(db).claim();
      expect(claimed.map(({ payload }) => payload)).toEqual(expect.arrayContaining(["1", "2"]));
      expect((await queue.admin(db).jobs()).items).toHaveLength(inserted ? 3 : 2);
      expect((await queue.admin(db).health()).lanes.length).toBeGreaterThan(0);
    },
  );

  test("a job whose attempts are beyond what may be is dead at its next failure, and not lost", async () => {
    const { id } = await queue.enqueue(db, "a", 1, { maxAttempts: 3 });
    await database.pool.query("update queue.jobs set attempts = 100");
    const worker = workerOn(db);
    expect(await worker.claim({ leaseMs: -1 })).toMatchObject([{ id, attempts: 101 }]);
    expect(await worker.sweep()).toMatchObject([{ id, status: "dead" }]);
  });
});
