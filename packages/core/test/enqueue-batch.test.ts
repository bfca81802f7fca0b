import { createQueue, type InferItem, job } from "@queue/core";
import { useTestDatabase } from "@queue/test-database";
import { beforeEach, describe, expect, test } from "vitest";
import { kyselyOn } from "./support/kysely-on.js";
import { executorOn } from "./support/session.js";
import { rejectionOf } from "./support/thrown-by.js";

const database = useTestDatabase();
const queue = createQueue({ jobs: { a: job<number>(), b: job<number>({ lane: "b", priority: 9, maxAttempts: 3 }) } });

beforeEach(async () => {
  await database.pool.query("truncate queue.jobs, queue.job_keys");
});

describe("B66: a batch of 70,000 with every option", () => {
  const count = 70_000;
  const items = Array.from({ length: count }, (_, n): InferItem<typeof queue> => ({
    kind: n % 2 === 0 ? "a" : "b",
    payload: n,
    options: { key: `key-${n}`, keyHolds: "1d", delay: n, priority: 3, maxAttempts: 5, lane: `lane-${n % 7}` },
  }));

  test("is one statement; ids come in the order of the input", async () => {
    const sent: string[] = [];
    const results = await queue.enqueueMany(executorOn(database.pool, sent), items);
    expect(sent.filter((text) => /insert into|"queue"\.enqueue_/.test(text))).toHaveLength(1);
    expect(results).toHaveLength(count);
    expect(results.every(({ inserted }) => inserted)).toBe(true);
    expect(isAscending(results)).toBe(true);
    const { rows } = await database.pool.query<{ wrong: number; total: number }>(
      `select count(*)::int as total,
              count(*) filter (where j.payload <> to_jsonb(w.n - 1) or j.idempotency_key <> 'key-' || (w.n - 1)
                or j.lane <> 'lane-' || ((w.n - 1) % 7) or j.priority <> 3 or j.max_attempts <> 5
                or j.kind <> (array['a', 'b'])[1 + (w.n - 1) % 2]
                or abs(extract(epoch from j.run_at - j.created_at) * 1000 - (w.n - 1)) > 5000)::int as wrong
         from unnest($1::bigint[]) with ordinality as w(id, n) join queue.jobs j using (id)`,
      [results.map(({ id }) => id)],
    );
    expect(rows).toEqual([{ total: count, wrong: 0 }]);
  });

  test("with one bad item at position 69,999 inserts nothing, and names it", async () => {
    const spoiled = [...items];
    spoiled[69_999] = { kind: "a", payload: 1n as unknown as number };
    const sent: string[] = [];
    expect(await rejectionOf(queue.enqueueMany(executorOn(database.pool, sent), spoiled))).toMatchObject({
      code: "INVALID_PAYLOAD",
      index: 69_999,
      path: "$",
    });
    expect(sent).toEqual([]);
  });

  test("without keys is one statement too", async () => {
    const sent: string[] = [];
    const plain = items.map(({ kind, payload }) => ({ kind, payload })) as InferItem<typeof queue>[];
    const results = await queue.enqueueMany(executorOn(database.pool, sent), plain);
    expect(sent.filter((text) => /insert into|"queue"\.enqueue_/.test(text))).toHaveLength(1);
    expect(new Set(results.map(({ id }) => id)).size).toBe(count);
    expect(isAscending(results)).toBe(true);
    const { rows } = await database.pool.query("select count(*)::int as count from queue.jobs where idempotency_key is null");
    expect(rows).toEqual([{ count }]);
  });

  test("of nothing is [] and no statement", async () => {
    const sent: string[] = [];
    expect(await queue.enqueueMany(executorOn(database.pool, sent), [])).toEqual([]);
    expect(sent).toEqual([]);
  });
});

describe("a small batch", () => {
  test("takes what is not said from each kind", async () => {
    await queue.enqueueMany(kyselyOn(database.pool), [
      { kind: "a", payload: 1 },
      { kind: "b", payload: 2 },
      { kind: "b", payload: 3, options: { lane: "c", priority: 0, maxAttempts: 1 } },
    ]);
    const { rows } = await database.pool.query(
      "select kind, lane, priority, max_attempts, status, attempts, claims, redrives, worker, idempotency_key from queue.jobs order by id",
    );
    const fresh = { status: "queued", attempts: 0, claims: 0, redrives: 0, worker: null, idempotency_key: null };
    expect(rows).toEqual([
      { kind: "a", lane: "default", priority: 5, max_attempts: 8, ...fresh },
      { kind: "b", lane: "b", priority: 9, max_attempts: 3, ...fresh },
      { kind: "b", lane: "c", priority: 0, max_attempts: 1, ...fresh },
    ]);
  });

  test("B60: of a key that comes twice the first wins; each item has its own answer, in order", async () => {
    const db = kyselyOn(database.pool);
    const existing = await queue.enqueue(db, "a", 0, { key: "old" });
    const results = await queue.enqueueMany(db, [
      { kind: "a", payload: 1, options: { key: "u1" } },
      { kind: "a", payload: 2, options: { key: "u1" } },
      { kind: "a", payload: 3, options: { key: "u2" } },
      { kind: "a", payload: 4 },
      { kind: "a", payload: 5, options: { key: "old" } },
      { kind: "b", payload: 6, options: { key: "u1" } },
    ]);
    expect(results.map(({ inserted }) => inserted)).toEqual([true, false, true, true, false, true]);
    expect(results[1]?.id).toBe(results[0]?.id);
    expect(results[4]?.id).toBe(existing.id);
    expect(new Set(results.map(({ id }) => id)).size).toBe(5);
    const { rows } = await database.pool.query("select payload from queue.jobs order by id");
    expect(rows.map(({ payload }) => payload as number)).toEqual([0, 1, 3, 4, 6]);
  });

  test("is claimed in the order of the input", async () => {
    const results = await queue.enqueueMany(
      kyselyOn(database.pool),
      Array.from({ length: 200 }, (_, n) => ({ kind: "a" as const, payload: n })),
    );
    const { rows } = await database.pool.query("select id::text from queue.jobs order by lane, priority, run_at, queue.jobs.id");
    expect(rows.map(({ id }) => id as string)).toEqual(results.map(({ id }) => id));
  });
});

function isAscending(results: readonly { readonly id: string }[]): boolean {
  return results.every(({ id }, n) => n === 0 || Number(id) > Number(results[n - 1]?.id));
}
