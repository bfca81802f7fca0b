import { createQueue, job, type JsonValue, QueueError } from "@queue/core";
import { useTestDatabase } from "@queue/test-database";
import { type Kysely, sql, type Transaction } from "kysely";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { kyselyOn } from "./support/kysely-on.js";
import { executorOn } from "./support/session.js";
import { rejectionOf } from "./support/thrown-by.js";

const database = useTestDatabase();
const queue = createQueue({
  jobs: { a: job<JsonValue>(), checked: job({ payload: z.object({ orderId: z.string() }) }) },
});
let db: Kysely<object>;

beforeAll(() => {
  db = kyselyOn<object>(database.pool);
});

beforeEach(async () => {
  await database.pool.query("truncate queue.jobs, queue.job_keys");
});

const cyclic: Record<string, unknown> = {};
cyclic["self"] = cyclic;

const wrongPayloads: [name: string, payload: unknown, path: string][] = [
  ["B01: NUL in a value", { a: "x\u0000y" }, "$.a"],
  ["B01: NUL in a key", { "x\u0000": 1 }, String.raw`$["x\u0000"]`],
  ["B01: NUL in an array", ["x", "\u0000"], "$[1]"],
  ["B03: the first half of an emoji", { s: "\uD83E" }, "$.s"],
  ["B03: the second half of an emoji", { s: "\uDD81" }, "$.s"],
  ["B09: a Map", { m: new Map() }, "$.m"],
  ["B09: NaN", { n: Number.NaN }, "$.n"],
  ["B09: undefined in an array", { u: [undefined] }, "$.u[0]"],
  ["a bigint", { n: 1n }, "$.n"],
  ["a cycle", cyclic, "$.self"],
];
const wrongOptions: [name: string, option: string, options: object][] = [
  ["B72: a delay without a unit", "delay", { delay: "1200" }],
  ["B72: a negative delay", "delay", { delay: -1 }],
  ["B72: an invalid date", "runAt", { runAt: new Date(Number.NaN) }],
  ["a date before the first year, which PostgreSQL does not have", "runAt", { runAt: new Date("0000-06-01T00:00:00Z") }],
  ["B72: a date far away", "runAt", { runAt: new Date(8.64e15) }],
  ["B72: a priority that is no whole number", "priority", { priority: 1.5 }],
  ["B72: no attempt", "maxAttempts", { maxAttempts: 0 }],
  ["B01: NUL in a key", "key", { key: "k\u0000" }],
  ["both delay and runAt", "delay", { delay: "1s", runAt: new Date() }],
  ["keyHolds without a key", "keyHolds", { keyHolds: "1d" }],
];

type Call = (trx: Transaction<object>) => Promise<unknown>;
const enqueueA =
  (payload: unknown, options?: object): Call =>
  (trx) =>
    queue.enqueue(trx, "a", payload as JsonValue, options);
const enqueueThree =
  (payload: unknown, options?: object): Call =>
  (trx) =>
    queue.enqueueMany(trx, [
      { kind: "a", payload: 1 },
      { kind: "a", payload: payload as JsonValue, options },
      { kind: "a", payload: 3 },
    ]);

const refused: [name: string, call: Call, expected: object][] = [
  ...wrongPayloads.flatMap(([name, payload, path]): [string, Call, object][] => [
    [name, enqueueA(payload), { code: "INVALID_PAYLOAD", path }],
    [`${name}, in a batch`, enqueueThree(payload), { code: "INVALID_PAYLOAD", path, index: 1 }],
  ]),
  ...wrongOptions.flatMap(([name, option, options]): [string, Call, object][] => [
    [name, enqueueA(1, options), { code: "INVALID_OPTION", option }],
    [`${name}, in a batch`, enqueueThree(1, options), { code: "INVALID_OPTION", option, index: 1 }],
  ]),
  ["B15: a kind like a member of Object", (trx) => queue.enqueue(trx, "toString" as "a", null), { code: "UNKNOWN_KIND", kind: "toString" }],
  [
    "an unknown kind in a batch",
    (trx) => queue.enqueueMany(trx, [{ kind: "b" as "a", payload: null }]),
    { code: "UNKNOWN_KIND", kind: "b", index: 0 },
  ],
  [
    "a payload that its schema refuses",
    (trx) => queue.enqueue(trx, "checked", { orderId: 1 } as never),
    { code: "INVALID_PAYLOAD", path: "$.orderId" },
  ],
  ["no batch", (trx) => queue.enqueueMany(trx, "a" as never), { code: "INVALID_OPTION", option: "items" }],
];

describe("what is refused is refused before any SQL, and the transaction goes on", () => {
  test.each(refused)("%s", async (_name, call, expected) => {
    await db.transaction().execute(async (trx) => {
      await queue.enqueue(trx, "a", "before");
      const error = await rejectionOf(call(trx));
      expect(QueueError.is(error)).toBe(true);
      expect(error).toMatchObject(expected);
      expect((await sql<{ one: number }>`select 1 as one`.execute(trx)).rows).toEqual([{ one: 1 }]);
      await queue.enqueue(trx, "a", "after");
    });
    const { rows } = await database.pool.query("select payload from queue.jobs order by id");
    expect(rows).toEqual([{ payload: "before" }, { payload: "after" }]);
  });

  test("no statement is sent for any of them, not even the look at the tables", async () => {
    const sent: string[] = [];
    const executor = executorOn(database.pool, sent);
    for (const [, call] of refused) await rejectionOf(call(executor as never));
    expect(sent).toEqual([]);
    await queue.enqueue(executor, "a", 1);
    expect(sent).toHaveLength(4);
  });

  test.each<[name: string, target: unknown]>([
    ["nothing", undefined],
    ["a pool", "pool"],
    ["a forgotten await", Promise.resolve()],
  ])("%s as the first argument rejects", async (_name, target) => {
    const given = target === "pool" ? database.pool : target;
    expect(await rejectionOf(queue.enqueue(given as never, "a", 1))).toMatchObject({ code: "INVALID_OPTION", option: "db" });
    expect(await rejectionOf(queue.enqueueMany(given as never, []))).toMatchObject({ code: "INVALID_OPTION", option: "db" });
    expect(() => queue.admin(given as never)).toThrow(expect.objectContaining({ code: "INVALID_OPTION", option: "db" }));
  });

  test("a queue whose options cannot be is refused when it is defined", () => {
    for (const schema of ["", "s".repeat(64), "a\u0000b", "pg_queue"]) {
      expect(() => createQueue({ schema, jobs: {} })).toThrow(expect.objectContaining({ code: "INVALID_OPTION", option: "schema" }));
    }
    expect(() => createQueue({ jobs: {}, shema: "x" } as never)).toThrow(
      expect.objectContaining({ code: "INVALID_OPTION", option: "shema" }),
    );
    expect(() => createQueue({} as never)).toThrow(expect.objectContaining({ code: "INVALID_OPTION", option: "jobs" }));
    expect(() => createQueue(undefined as never)).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
  });
});
