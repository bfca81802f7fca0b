import { createQueue, job, type JsonValue } from "@queue/core";
import { useTestDatabase } from "@queue/test-database";
import fc from "fast-check";
import { CamelCasePlugin, type KyselyPlugin, ParseJSONResultsPlugin, sql } from "kysely";
import { afterEach, describe, expect, test } from "vitest";
import { kyselyOn } from "./support/kysely-on.js";
import { workerOn } from "./support/worker-on.js";

const database = useTestDatabase();
const queue = createQueue({ jobs: { a: job<JsonValue>() } });

afterEach(async () => {
  await database.pool.query("truncate queue.jobs");
});

/** What the handlers of these payloads get, after one by one and as a batch. */
async function roundTrip(payloads: readonly unknown[], plugins: KyselyPlugin[] = []): Promise<{ single: unknown[]; batch: unknown[] }> {
  const db = kyselyOn(database.pool, plugins);
  for (const payload of payloads) await queue.enqueue(db, "a", payload as JsonValue);
  await queue.enqueueMany(
    db,
    payloads.map((payload) => ({ kind: "a", payload: payload as JsonValue })),
  );
  const claimed = await workerOn(db).claim({ limit: 2 * payloads.length });
  const read = claimed.sort((a, b) => Number(a.id) - Number(b.id)).map(({ payload }) => JSON.parse(payload) as unknown);
  return { single: read.slice(0, payloads.length), batch: read.slice(payloads.length) };
}

async function expectRoundTrip(payloads: readonly unknown[], plugins: KyselyPlugin[] = []): Promise<void> {
  const { single, batch } = await roundTrip(payloads, plugins);
  expect(single).toStrictEqual(payloads);
  expect(batch).toStrictEqual(payloads);
}

describe("a payload reaches the handler as it was enqueued", () => {
  test("B06: arrays and strings at the top", async () => {
    await expectRoundTrip([[1, 2, 3], [], [{ a: 1 }], [[1], [2]], "hello", '{"a":1}', "[1]", "null", ""]);
  });

  test("B07: what is falsy", async () => {
    const { single, batch } = await roundTrip([0, false, "", null, undefined, -0]);
    for (const payloads of [single, batch]) expect(payloads).toStrictEqual([0, false, "", null, null, 0]);
  });

  test("B07: a payload that was left out is the JSON value null, never SQL's", async () => {
    const db = kyselyOn(database.pool);
    await queue.enqueue(db, "a", undefined as unknown as JsonValue);
    await queue.enqueueMany(db, [{ kind: "a" } as { kind: "a"; payload: JsonValue }]);
    await queue.enqueue(db, "a", null, { key: "k" });
    const { rows } = await database.pool.query("select payload is null as missing, jsonb_typeof(payload) as type from queue.jobs");
    expect(rows).toEqual(Array.from({ length: 3 }, () => ({ missing: false, type: "null" })));
  });

  test("B03: a whole emoji, and everything else that Unicode has but NUL", async () => {
    await expectRoundTrip(["\uD83E\uDD81", { "\uD83E\uDD81": "\u0001\u001f\u007f\u2028\uFFFE\uFFFF" }, "\u{10FFFF}"]);
  });

  test("numbers to the last bit", async () => {
    await expectRoundTrip([
      [Number.MAX_VALUE, Number.MIN_VALUE, Number.EPSILON, Number.MAX_SAFE_INTEGER, 2 ** 53 + 2, 0.1 + 0.2, 1e21, 1e-7, -1.5, 5e-324],
    ]);
  });

  test("names like those of Object.prototype, and names that differ in case only", async () => {
    const payload = JSON.parse('{"__proto__":{"a":1},"constructor":2,"a":1,"A":2,"":3}') as unknown;
    const { single, batch } = await roundTrip([payload]);
    expect(JSON.stringify(single[0])).toBe(JSON.stringify(batch[0]));
    expect(Object.entries(single[0] as object).sort()).toEqual(Object.entries(payload as object).sort());
  });

  test("a thousand levels", async () => {
    const deep = JSON.parse(`${"[".repeat(1_000)}1${"]".repeat(1_000)}`) as unknown;
    const { single, batch } = await roundTrip([deep]);
    expect(JSON.stringify(single)).toBe(JSON.stringify([deep]));
    expect(JSON.stringify(batch)).toBe(JSON.stringify([deep]));
  });

  test("a megabyte", async () => {
    await expectRoundTrip([{ text: "\u00fcx".repeat(500_000) }]);
  });

  test("whatever JSON can hold", async () => {
    const text = fc.string({ unit: "binary" }).map((any) => any.replaceAll("\u0000", ""));
    const values = fc.sample(fc.jsonValue({ stringUnit: "binary", maxDepth: 4 }), { numRuns: 300, seed: 2026 });
    const texts = fc.sample(text, { numRuns: 200, seed: 2026 });
    const payloads = [...values.map((value) => withoutNul(value)), ...texts];
    const { single, batch } = await roundTrip(payloads);
    expect(single).toEqual(payloads);
    expect(batch).toEqual(payloads);
  });
});

describe("the plugins of the application's Kysely change nothing", () => {
  const plugins: [name: string, plugins: KyselyPlugin[]][] = [
    ["CamelCasePlugin", [new CamelCasePlugin()]],
    ["CamelCasePlugin with upper case", [new CamelCasePlugin({ upperCase: true })]],
    ["CamelCasePlugin that keeps nested objects", [new CamelCasePlugin({ maintainNestedObjectKeys: true })]],
    ["ParseJSONResultsPlugin", [new ParseJSONResultsPlugin()]],
    ["both", [new CamelCasePlugin(), new ParseJSONResultsPlugin()]],
  ];

  test.each(plugins)("B114, B115: %s", async (_name, given) => {
    const payloads = [
      { user_id: 1, a_b: { c_d: [{ e_f: 1 }] }, _x: 3, "First Name": 2, camelCase: 4 },
      { s: "[1,2]", t: '{"a":1}', u: "[draft] hello" },
      "[1,2]",
    ];
    await expectRoundTrip(payloads, given);
    const db = kyselyOn(database.pool, given);
    const first = await queue.enqueue(db, "a", payloads[0] as JsonValue, { key: "[1,2]" });
    expect(await queue.enqueue(db, "a", null, { key: "[1,2]" })).toEqual({ id: first.id, inserted: false });
    const record = await queue.admin(db).job(first.id);
    expect(record).toMatchObject({ id: first.id, payload: payloads[0], key: "[1,2]", maxAttempts: 8, createdAt: expect.any(Date) });
    await database.pool.query("truncate queue.job_keys");
  });

  test("nor does its default schema", async () => {
    const db = kyselyOn(database.pool).withSchema("somewhere_else");
    const { id } = await queue.enqueue(db, "a", "x", { key: "k1" });
    expect((await workerOn(db).claim())[0]).toMatchObject({ id, payload: '"x"' });
  });

  test("the application's own queries still go through them", async () => {
    const db = kyselyOn<Record<string, never>>(database.pool, [new CamelCasePlugin()]);
    await queue.enqueue(db, "a", { user_id: 1 });
    const { rows } = await sql`select max_attempts, payload from queue.jobs`.execute(db);
    expect(rows).toEqual([{ maxAttempts: 8, payload: { userId: 1 } }]);
  });
});

function withoutNul(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value)
      .replaceAll(String.raw`\u0000`, "")
      .replaceAll("-0,", "0,"),
  ) as unknown;
}
