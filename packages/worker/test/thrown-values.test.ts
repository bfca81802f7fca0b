import { describe, expect, test } from "vitest";
import { createQueue, job } from "@queue/core";
import { useWorkers } from "./support/use-workers.js";

const workers = useWorkers();
const queue = createQueue({ jobs: { throws: job<{ n: number }>({ backoff: { base: "1h" } }), works: job() } });

const refusesToBeAsked = new Proxy(
  {},
  {
    get() {
      throw new Error("get");
    },
    has() {
      throw new Error("has");
    },
    getPrototypeOf() {
      throw new Error("getPrototypeOf");
    },
    ownKeys() {
      throw new Error("ownKeys");
    },
  },
);

const thrown: readonly (readonly [name: string, value: unknown, stored: RegExp])[] = [
  ["nothing", undefined, /^Non-error thrown: undefined$/],
  ["null", null, /^Non-error thrown: null$/],
  ["a string", "boom", /^boom$/],
  ["an empty string", "", /./],
  ["zero", 0, /^Non-error thrown: 0$/],
  ["false", false, /^Non-error thrown: false$/],
  ["NaN", Number.NaN, /NaN/],
  ["a symbol", Symbol("why"), /Symbol\(why\)/],
  ["a function", function named() {}, /named/],
  ["a bigint", 10n, /10/],
  ["an object with a code", { code: "X" }, /X/],
  ["an object without a prototype", Object.create(null), /./],
  [
    "an object whose toString throws",
    {
      toString: () => {
        throw new Error("no");
      },
    },
    /./,
  ],
  ["a promise", Promise.resolve(1), /./],
  ["a proxy that throws whatever it is asked", refusesToBeAsked, /./],
  ["an error without a message", new TypeError(), /^TypeError$/],
  ["an error whose message is no string", Object.assign(new Error("x"), { message: 42 }), /42/],
  ["an error whose name is no string", Object.assign(new Error("named"), { name: 7 }), /^named$/],
  ["an error whose name is a symbol", Object.assign(new Error("named"), { name: Symbol("s") }), /^named$/],
  ["an error whose stack is no string", Object.assign(new Error("stacked"), { stack: { a: 1 } }), /^stacked$/],
  [
    "an error whose stack throws",
    Object.defineProperty(new Error("stacked"), "stack", {
      get: () => {
        throw new Error("no");
      },
    }),
    /^stacked$/,
  ],
  [
    "an error whose cause throws",
    Object.defineProperty(new Error("caused"), "cause", {
      get: () => {
        throw new Error("no");
      },
    }),
    /^caused$/,
  ],
  [
    "an error whose cause has a symbol for its name",
    new Error("caused", { cause: Object.assign(new Error("c"), { name: Symbol("s") }) }),
    /^caused$/,
  ],
];

describe("B51: whatever a handler throws", () => {
  test.each(thrown.map(([name], n) => [name, n] as const))(
    "%s is a failed attempt with a text, and the worker goes on",
    async (_name, n) => {
      const [, value, stored] = thrown[n] ?? [];
      const { events } = await workers.start({
        queue,
        handlers: {
          throws: () => Promise.reject(value as Error),
          works: () => {},
        },
      });
      const { id } = await queue.enqueue(workers.db, "throws", { n });
      const { error } = await events.until("job.failed");
      expect(Object.is(error, value)).toBe(true);
      const row = await workers.job(id);
      expect([row.status, row.attempts]).toEqual(["queued", 1]);
      expect(row.last_error).toMatch(stored ?? /./);
      expect(row.errors).toHaveLength(1);
      await queue.enqueue(workers.db, "works", null);
      await events.until("job.completed");
      expect(events.of("worker.error")).toEqual([]);
    },
  );
});

describe("B02: NUL and half surrogates in what a handler throws", () => {
  test("become U+FFFD, wherever they are, and the failure is recorded", async () => {
    const error = new Error("bad \u0000 byte", { cause: new Error("cause \u0000 \uD800") });
    error.name = "Na\u0000me";
    error.stack = "at \u0000 somewhere";
    const { events } = await workers.start({
      queue,
      handlers: {
        throws: () => {
          throw error;
        },
      },
    });
    const { id } = await queue.enqueue(workers.db, "throws", { n: 1 }, { maxAttempts: 2 });
    await events.until("job.failed");
    expect(await workers.job(id)).toMatchObject({ status: "queued", attempts: 1, last_error: "bad \uFFFD byte" });
    await queue.admin(workers.db).retry(id);
    await events.until("job.dead");
    expect(await workers.job(id)).toMatchObject({
      status: "dead",
      attempts: 2,
      errors: Array.from({ length: 2 }, () => ({
        name: "Na\uFFFDme",
        message: "bad \uFFFD byte",
        stack: expect.stringContaining("cause \uFFFD \uFFFD"),
      })),
    });
    expect(events.of("worker.error")).toEqual([]);
  });
});

describe("B52: an error that refers to itself", () => {
  test("is recorded by its text, without what hangs on it, and holds nothing else back", async () => {
    const response: Record<string, unknown> = {};
    const request = { headers: { authorization: "Bearer secret-token" }, res: response };
    response["req"] = request;
    const error = Object.assign(new Error("upstream 502"), { request });
    error.cause = error;
    const { events } = await workers.start({
      queue,
      handlers: {
        throws: () => {
          throw error;
        },
        works: () => {},
      },
    });
    await queue.enqueueMany(workers.db, [
      { kind: "throws", payload: { n: 1 } },
      ...Array.from({ length: 9 }, () => ({ kind: "works", payload: null }) as const),
    ]);
    await Promise.all([events.until("job.failed"), events.until("job.completed", 9)]);
    const [row] = (await workers.jobs()).filter(({ kind }) => kind === "throws");
    expect(row?.last_error).toContain("upstream 502");
    const stored = JSON.stringify(row?.errors);
    expect(stored).not.toContain("secret-token");
    expect(Buffer.byteLength(stored)).toBeLessThanOrEqual(8_192);
  });

  test("is cut to 8 KiB, however long it is and whatever its characters", async () => {
    const long = "\u{1F600}ß\u0000".repeat(20_000);
    const error = new Error(long, { cause: new Error(long, { cause: long }) });
    error.name = long;
    const { events } = await workers.start({ queue, handlers: { throws: () => Promise.reject(error) } });
    const { id } = await queue.enqueue(workers.db, "throws", { n: 1 });
    await events.until("job.failed");
    const [stored] = await workers.sql<{ bytes: number; shown: number }>(
      "select octet_length(errors::text) as bytes, octet_length(last_error) as shown from queue.jobs where id = $1",
      [id],
    );
    expect(stored?.bytes).toBeLessThanOrEqual(8_192);
    expect(stored?.shown).toBeGreaterThan(1_000);
  });
});
