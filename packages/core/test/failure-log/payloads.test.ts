import { runInNewContext } from "node:vm";
import { createQueue, job, type JsonValue } from "@queue/core";
import { useTestDatabase } from "@queue/test-database";
import type { Kysely } from "kysely";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { kyselyOn } from "../support/kysely-on.js";
import { rejectionOf } from "../support/thrown-by.js";
import { workerOn } from "../support/worker-on.js";

const database = useTestDatabase();
const queue = createQueue({ jobs: { a: job<JsonValue>() } });
let db: Kysely<object>;

beforeAll(() => {
  db = kyselyOn<object>(database.pool);
});
beforeEach(async () => {
  await database.pool.query("truncate queue.jobs restart identity");
});

/** What a handler would get for what was given. */
async function arrived(payload: unknown): Promise<unknown> {
  await queue.enqueue(db, "a", payload as JsonValue);
  const [row] = await workerOn(db).claim();
  return JSON.parse(row?.payload ?? "nothing was claimed");
}

async function refusal(payload: unknown): Promise<Error> {
  const error = await rejectionOf(queue.enqueue(db, "a", payload as JsonValue));
  const { rowCount } = await database.pool.query("select from queue.jobs");
  expect(rowCount).toBe(0);
  return error;
}

describe("objects that JSON would turn into {} without a word", () => {
  test.each<[name: string, value: () => unknown]>([
    ["a Map of another realm", () => runInNewContext("new Map([[1, 2]])")],
    ["a Set of another realm", () => runInNewContext("new Set([1])")],
    ["an Error of another realm", () => runInNewContext("new Error('x')")],
    ["bytes that are shared", () => new SharedArrayBuffer(8)],
    ["bytes of another realm", () => runInNewContext("new ArrayBuffer(8)")],
    ["the parameters of an address", () => new URLSearchParams("a=1")],
    ["the headers of a request", () => new Headers({ a: "1" })],
    ["a form", () => new FormData()],
    ["a file", () => new Blob(["x"])],
    ["an iterator", () => [1, 2].values()],
    ["a generator", () => (function* () {})()],
    ["a weak reference", () => new WeakRef({})],
    ["a number format", () => new Intl.NumberFormat()],
    ["an AbortSignal", () => AbortSignal.abort()],
    ["a promise of another library", () => ({ inner: runInNewContext("Promise.resolve(1)") as unknown })],
    ["a boxed number of another realm", () => runInNewContext("new Number(1)")],
    ["an invalid Date of another realm, which would be null", () => runInNewContext("new Date(NaN)")],
  ])("%s is refused, with its path", async (_name, value) => {
    expect(await refusal({ deep: [value()] })).toMatchObject({ code: "INVALID_PAYLOAD", path: expect.stringMatching(/^\$\.deep\[0\]/) });
  });
});

describe("payloads that resist", () => {
  const throwing = () => {
    throw new Error("not readable");
  };
  const revoked = () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  };
  test.each<[name: string, payload: () => unknown, path: string]>([
    ["a revoked proxy", revoked, "$"],
    ["a revoked proxy inside", () => ({ list: [revoked()] }), "$.list[0]"],
    ["a proxy that hides its properties", () => ({ p: new Proxy({}, { ownKeys: throwing }) }), "$.p"],
    ["a proxy that lies about its prototype", () => ({ p: new Proxy({}, { getPrototypeOf: throwing }) }), "$.p"],
    ["an array with a getter that throws", () => Object.defineProperty([1, 2], 1, { get: throwing }), "$[1]"],
    ["an array of four billion holes", () => ({ a: Array(4_294_967_295) }), "$.a[0]"],
    ["a toJSON that gives itself", () => ({ t: selfJson() }), "$.t"],
    ["a toJSON that gives ever new ones", () => ({ t: endlessJson() }), "$.t"],
    ["a toJSON that gives a bigint", () => ({ t: { toJSON: () => 1n } }), "$.t"],
    ["a cycle through an array", cycle, "$[0].up"],
    ["half a surrogate in a key", () => ({ ok: { "\uDC00": 1 } }), String.raw`$.ok["\udc00"]`],
    ["NUL in what toJSON gives", () => ({ t: { toJSON: () => "\u0000" } }), "$.t"],
    ["a symbol in a frozen object", () => Object.freeze({ s: Symbol("s") }), "$.s"],
  ])("%s: refused with the path, before any SQL", async (_name, payload, path) => {
    expect(await refusal(payload())).toMatchObject({ code: "INVALID_PAYLOAD", path });
  });

  test.each<[name: string, payload: () => unknown, stored: unknown]>([
    ["a proxy of a plain object", () => new Proxy({ a: 1 }, {}), { a: 1 }],
    ["an object of another realm", () => runInNewContext("({ a: [1, { b: null }] })"), { a: [1, { b: null }] }],
    ["a Date of another realm", () => ({ d: runInNewContext("new Date(0)") as unknown }), { d: "1970-01-01T00:00:00.000Z" }],
    ["frozen and sealed objects", () => Object.freeze({ a: Object.seal([Object.freeze({})]) }), { a: [{}] }],
    ["symbols as keys, which JSON does not have", () => ({ a: 1, [Symbol("s")]: 2 }), { a: 1 }],
    ["properties that are not enumerable", () => Object.defineProperty({ a: 1 }, "b", { value: 2 }), { a: 1 }],
    [
      "the smallest and the largest numbers",
      () => [5e-324, -1.7976931348623157e308, 0.1, 1e21, 2 ** 53 + 2],
      [5e-324, -1.7976931348623157e308, 0.1, 1e21, 2 ** 53 + 2],
    ],
    [
      "text that looks like an escape",
      () => ["\\u0000", "\\", '"', "\u2028\u2029", "\u007F", "\uFFFF"],
      ["\\u0000", "\\", '"', "\u2028\u2029", "\u007F", "\uFFFF"],
    ],
    ["the same object twice, which is no cycle", twice, [{ x: 1 }, { x: 1 }]],
    ["a key of 100,000 characters", () => ({ ["k".repeat(100_000)]: 1 }), { ["k".repeat(100_000)]: 1 }],
    [
      "keys that differ only by their Unicode form, or by a space",
      () => ({ "\u00E9": 1, "e\u0301": 2, "a ": 3, a: 4 }),
      { "\u00E9": 1, "e\u0301": 2, "a ": 3, a: 4 },
    ],
    ["5 MB of text", () => "\u00E9\u{1F981}".repeat(1_000_000), "\u00E9\u{1F981}".repeat(1_000_000)],
  ])("%s: arrives as it was", async (_name, payload, stored) => {
    expect(await arrived(payload())).toEqual(stored);
  });

  test("a key called __proto__ is a key, on its way in and on its way out", async () => {
    const payload = JSON.parse('{"__proto__": {"admin": true}, "constructor": 1, "toJSON": "x"}') as object;
    const stored = (await arrived(payload)) as { admin?: unknown };
    expect(Object.keys(stored).sort()).toEqual(["__proto__", "constructor", "toJSON"]);
    expect(stored.admin).toBeUndefined();
    expect(({} as { admin?: unknown }).admin).toBeUndefined();
  });

  test("what is changed after the call is not what is stored: the payload is that of the moment of the call", async () => {
    const payload = { n: 1, list: [1] };
    const options = { lane: "before" };
    const enqueued = [queue.enqueue(db, "a", payload, options), queue.enqueueMany(db, [{ kind: "a", payload, options }])];
    payload.n = 2;
    payload.list.push(2);
    options.lane = "after";
    await Promise.all(enqueued);
    const { rows } = await database.pool.query("select payload, lane from queue.jobs");
    expect(rows).toEqual(Array.from({ length: 2 }, () => ({ payload: { n: 1, list: [1] }, lane: "before" })));
  });
});

describe("ids at the ends of their range", () => {
  test("the last id of all is claimed, completed and found", async () => {
    await database.pool.query("select setval('queue.jobs_id_seq', 9223372036854775806)");
    const { id } = await queue.enqueue(db, "a", 1);
    expect(id).toBe("9223372036854775807");
    const worker = workerOn(db);
    expect(await worker.complete(await worker.claim())).toEqual([id]);
    expect(await queue.admin(db).job(id)).toMatchObject({ id, status: "done" });
  });

  test.each(["9223372036854775808", "-1", "1.0", "0x1", "\u0661", " 1", "1e3", "", "1;drop", 1 as never, null as never])(
    "%j is no id, and is refused before any SQL",
    async (id) => {
      expect(await rejectionOf(queue.admin(db).job(id))).toMatchObject({ code: "INVALID_OPTION", option: "id" });
      expect(await rejectionOf(queue.admin(db).cancel(id))).toMatchObject({ code: "INVALID_OPTION", option: "id" });
      expect(await rejectionOf(queue.admin(db).retry(id))).toMatchObject({ code: "INVALID_OPTION", option: "id" });
    },
  );

  test("leading zeros name the same job", async () => {
    const { id } = await queue.enqueue(db, "a", 1);
    expect(await queue.admin(db).job(id.padStart(10, "0"))).toMatchObject({ id });
  });
});

function selfJson(): object {
  const self = { toJSON: () => self };
  return self;
}

function endlessJson(): object {
  return { toJSON: endlessJson };
}

function cycle(): unknown[] {
  const list: unknown[] = [{}];
  (list[0] as Record<string, unknown>)["up"] = list;
  return list;
}

function twice(): object[] {
  const one = { x: 1 };
  return [one, one];
}
