import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { createQueue, job, RetryAfterError } from "@queue/core";
import { type JobRow, useWorkers } from "../support/use-workers.js";
import { unhandledDuring } from "./support/unhandled-during.js";

const workers = useWorkers();
const queue = createQueue({ jobs: { throws: job({ backoff: { base: "1h", cap: "1h" } }), works: job() } });

/** The job whose handler threw `thrown` once, after another job has shown that the worker goes on. */
async function afterThrowing(thrown: unknown): Promise<JobRow> {
  let row: JobRow | undefined;
  const unhandled = await unhandledDuring(async () => {
    const { events } = await workers.start({
      queue,
      concurrency: 1,
      handlers: { throws: () => Promise.reject(thrown as Error), works: () => {} },
    });
    const { id } = await queue.enqueue(workers.db, "throws", null);
    await workers.sqlUntil(`select from queue.all_jobs where id = ${id} and errors <> '[]'`);
    await queue.enqueue(workers.db, "works", null);
    await events.until("job.completed");
    // A job that is due again already has been claimed before the other one, which is younger.
    row = await workers.job(id);
    expect(events.of("worker.error")).toEqual([]);
  });
  expect(unhandled).toEqual([]);
  if (row === undefined) throw new Error("The job was read above.");
  expect(row).toMatchObject({ status: "queued", attempts: 1 });
  expect(row.last_error).not.toBe("");
  return row;
}

function revoked(target: object): object {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

/** What a mocking library may hand out: it has every property, and each of them is itself. */
const blackHole: object = new Proxy(() => blackHole, {
  has: () => true,
  get: (_target, name) => (name === "then" ? undefined : blackHole),
});
const hollow: object = new Proxy({}, { has: () => true, get: (_target, name) => (name === "then" ? undefined : hollow) });

describe("an error of another realm, as vm, jest and worker threads make them", () => {
  test("is recorded like one of ours: name, message and stack", async () => {
    const { last_error, errors } = await afterThrowing(runInNewContext("new TypeError('no such customer')"));
    expect(last_error).toBe("no such customer");
    expect(errors[0]).toMatchObject({ name: "TypeError", message: "no such customer", stack: expect.stringContaining("evalmachine") });
  });

  test("does not bring along what hangs on it", async () => {
    const { errors } = await afterThrowing(runInNewContext("Object.assign(new Error('502'), { config: { token: 'secret-token' } })"));
    expect(JSON.stringify(errors)).not.toContain("secret-token");
  });
});

describe("an AggregateError", () => {
  test("without a message, as Node gives for a host that refuses on both of its addresses, is recorded with what went wrong", async () => {
    const thrown = new AggregateError([new Error("connect ECONNREFUSED ::1:25"), new Error("connect ECONNREFUSED 127.0.0.1:25")]);
    const { errors } = await afterThrowing(thrown);
    expect(JSON.stringify(errors)).toContain("ECONNREFUSED ::1:25");
    expect(JSON.stringify(errors)).toContain("ECONNREFUSED 127.0.0.1:25");
  });

  test("of Promise.any is recorded with the errors of its promises", async () => {
    const thrown: unknown = await Promise.any([
      Promise.reject(new Error("mirror one is down")),
      Promise.reject(new Error("and two")),
    ]).catch((error: unknown) => error);
    expect(JSON.stringify((await afterThrowing(thrown)).errors)).toContain("mirror one is down");
  });

  test.each<[name: string, make: () => unknown]>([
    [
      "contains itself",
      () => {
        const error = new AggregateError([], "all");
        error.errors.push(error);
        return error;
      },
    ],
    ["has a getter that throws for its errors", () => Object.defineProperty(new AggregateError([], "all"), "errors", { get: refuse })],
    ["has no list of errors", () => Object.assign(new AggregateError([], "all"), { errors: 7 })],
    ["has a revoked proxy among its errors", () => new AggregateError([revoked({}), revoked(new Error("x"))], "all")],
    [
      "has a hundred thousand errors",
      () =>
        new AggregateError(
          Array.from({ length: 100_000 }, (_, n) => new Error(`no ${n}`)),
          "all",
        ),
    ],
  ])("that %s is recorded all the same", async (_name, make) => {
    const { last_error, errors } = await afterThrowing(make());
    expect(last_error).toContain("all");
    expect(Buffer.byteLength(JSON.stringify(errors))).toBeLessThanOrEqual(8_192);
  });
});

describe("errors that are hard to read", () => {
  test.each<[name: string, make: () => unknown, stored: RegExp]>([
    ["a revoked proxy", () => revoked({}), /./],
    ["a revoked proxy of an error", () => revoked(new Error("x")), /./],
    ["a proxy of an error", () => new Proxy(new Error("seen through"), {}), /^seen through$/],
    ["a function that has every property", () => blackHole, /./],
    ["a frozen error", () => Object.freeze(new Error("frozen")), /^frozen$/],
    ["an error without a prototype", () => Object.setPrototypeOf(Object.assign(new Error("bare"), { code: "X" }), null), /bare|X/],
    ["the reason of an aborted signal", () => AbortSignal.abort().reason as unknown, /abort/],
    ["a stack of 5 MB", () => Object.assign(new Error("deep"), { stack: "at somewhere\n".repeat(400_000) }), /^deep$/],
    ["a message of control characters", () => new Error("\u0001".repeat(10_000)), /./],
    ["a name of 5 MB", () => Object.assign(new Error("named"), { name: "N".repeat(5_000_000) }), /^named$/],
    ["two errors that cause each other", () => causeEachOther(), /^first$/],
    ["ten thousand causes", () => chain(10_000), /^10000$/],
    ["a string of half surrogates", () => "\uD800\uDFFF\uDC00".repeat(10), /\uFFFD/],
    [
      "an object with a hundred thousand properties",
      () => Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`p${n}`, n])),
      /p0/,
    ],
    [
      "an error whose message is a getter of another type",
      () => Object.defineProperty(new Error(), "message", { get: () => [1, 2] }),
      /1,2/,
    ],
  ])("%s is recorded", async (_name, make, stored) => {
    const { last_error, errors } = await afterThrowing(make());
    expect(last_error).toMatch(stored);
    expect(errors).toHaveLength(1);
  });

  test("a stack that the application's own Error.prepareStackTrace cannot write is left out", async () => {
    const before = Error.prepareStackTrace;
    const error = new Error("untraced");
    try {
      Error.prepareStackTrace = refuse;
      expect((await afterThrowing(error)).last_error).toBe("untraced");
    } finally {
      Error.prepareStackTrace = before;
    }
  });
});

describe("what only looks like an error of the queue", () => {
  test("a proxy that has every property is a failed attempt, and no PermanentError", async () => {
    expect((await afterThrowing(hollow)).last_error).toMatch(/./);
  });

  const past = -1;
  const beforeTheFirstYear = -9e15;
  const afterTheLastYear = Number.MAX_SAFE_INTEGER;
  test.each([past, beforeTheFirstYear, afterTheLastYear])(
    "a RetryAfterError whose delay was changed to %d ms is tried again in time",
    async (delayMs) => {
      const { run_at } = await afterThrowing(Object.assign(new RetryAfterError("1m"), { delayMs }));
      const [now] = await workers.sql<{ now: Date }>("select now() - interval '1 minute' as now");
      expect(run_at.getTime()).toBeGreaterThan(Number(now?.now));
      expect(run_at.getTime()).toBeLessThan(Date.now() + 36_525 * 86_400_000);
    },
  );

  test("a RetryAfterError whose delay can be read only once is a failed attempt", async () => {
    let reads = 0;
    const error = Object.defineProperty(new RetryAfterError("1m"), "delayMs", {
      get: () => (reads++ === 0 ? 60_000 : refuse()),
    });
    expect((await afterThrowing(error)).errors).toHaveLength(1);
  });
});

function refuse(): never {
  throw new Error("not readable");
}

function causeEachOther(): Error {
  const first = new Error("first");
  first.cause = new Error("second", { cause: first });
  return first;
}

function chain(length: number): Error {
  let error = new Error("0");
  for (let n = 1; n <= length; n++) error = new Error(String(n), { cause: error });
  return error;
}
