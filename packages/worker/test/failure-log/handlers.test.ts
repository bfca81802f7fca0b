import { describe, expect, test } from "vitest";
import { createQueue, job } from "@queue/core";
import { untilAborted } from "../support/gate.js";
import { useWorkers } from "../support/use-workers.js";
import { unhandledDuring } from "./support/unhandled-during.js";

const workers = useWorkers();
const queue = createQueue({
  jobs: { works: job<{ n: number }>({ backoff: { base: "1h", cap: "1h" } }), other: job(), timed: job({ timeout: 50, maxAttempts: 1 }) },
});

/** The job after its only run by `handler`, and the types of its events. */
async function afterRunning(handler: () => unknown) {
  const { events } = await workers.start({ queue, handlers: { works: handler as () => undefined, other: () => {} } });
  const { id } = await queue.enqueue(workers.db, "works", { n: 1 });
  await workers.sqlUntil(`select from queue.all_jobs where id = ${id} and started_at is not null and status <> 'running'`);
  await queue.enqueue(workers.db, "other", null);
  await events.until("job.completed", (await workers.job(id)).status === "done" ? 2 : 1);
  return { row: await workers.job(id), types: events.typesFor(id) };
}

describe("a promise of another library that a handler returns", () => {
  test.each<[name: string, then: (resolve: () => void, reject: (error: Error) => void) => void]>([
    [
      "that settles twice",
      (resolve, reject) => {
        resolve();
        reject(new Error("after all"));
      },
    ],
    [
      "that throws after it has settled",
      (resolve) => {
        resolve();
        throw new Error("after all");
      },
    ],
    [
      "that settles three times, later",
      (resolve, reject) => {
        setImmediate(() => [resolve(), resolve(), reject(new Error("after all"))]);
      },
    ],
  ])("%s counts once, by its first answer", async (_name, then) => {
    // oxlint-disable-next-line unicorn/no-thenable -- the thenable is the point
    const { row, types } = await afterRunning(() => ({ then }));
    expect(row).toMatchObject({ status: "done", attempts: 1 });
    expect(types).toEqual(["job.started", "job.completed"]);
  });

  test("and that throws instead of answering is a failed attempt", async () => {
    // oxlint-disable-next-line unicorn/no-thenable -- the thenable is the point
    const { row } = await afterRunning(() => ({ then: () => refuse() }));
    expect(row).toMatchObject({ status: "queued", attempts: 1, last_error: "not readable" });
  });
});

describe("what a handler returns beside nothing", () => {
  test.each<[name: string, result: () => unknown]>([
    ["a revoked proxy", revoked],
    ["an object that cannot be asked", () => new Proxy({}, { has: () => refuse() })],
    ["a snooze for a time that is none", () => ({ "~snooze": "soon" })],
    ["a snooze for a negative time", () => ({ "~snooze": -1 })],
    ["a snooze that cannot be read", () => Object.defineProperty({}, "~snooze", { get: refuse })],
  ])("%s is a failed attempt", async (_name, result) => {
    const { row } = await afterRunning(result);
    expect(row).toMatchObject({ status: "queued", attempts: 1 });
    expect(row.last_error).not.toBe("");
  });

  test.each<[name: string, result: () => unknown]>([
    ["a job of its own making", () => ({ id: "1", status: "dead" })],
    ["5 MB", () => "x".repeat(5_000_000)],
    ["a symbol", () => Symbol("done")],
    ["NUL", () => "\u0000"],
    ["a cycle", cycle],
  ])("%s is done: results are not stored", async (_name, result) => {
    expect((await afterRunning(result)).row).toMatchObject({ status: "done", attempts: 1 });
  });
});

describe("a handler that changes what it was given", () => {
  test("changes its own copy: the outcome goes to its own job, and the next attempt begins anew", async () => {
    const seen: unknown[] = [];
    const { events } = await workers.start({
      queue,
      handlers: {
        works: (given, context) => {
          seen.push(structuredClone({ payload: given.payload, attempt: given.attempt }));
          Object.assign(given, { id: "999", attempt: 99, maxAttempts: 1, kind: "other" });
          Object.assign(given.payload, { n: 99 });
          Reflect.set(context, "signal", AbortSignal.abort());
          Reflect.set(context, "idempotencyKey", "stolen");
          throw new Error("again");
        },
      },
    });
    const { id } = await queue.enqueue(workers.db, "works", { n: 1 });
    await events.until("job.failed");
    await queue.admin(workers.db).retry(id);
    await events.until("job.failed", 2);
    expect(seen).toEqual([
      { payload: { n: 1 }, attempt: 1 },
      { payload: { n: 1 }, attempt: 2 },
    ]);
    expect(await workers.job(id)).toMatchObject({ status: "queued", attempts: 2 });
  });
});

describe("signals that handlers misuse", () => {
  test("an abort that a handler plays by itself ends nothing", async () => {
    const { events } = await workers.start({
      queue,
      handlers: {
        works: (_job, { signal }) => {
          signal.dispatchEvent(new Event("abort"));
          expect(signal.aborted).toBe(false);
        },
      },
    });
    const { id } = await queue.enqueue(workers.db, "works", { n: 1 });
    await events.untilFor(id, "job.completed");
  });

  test("a listener that throws keeps no other job's signal from aborting, and no job from being given back", async () => {
    let aborted = 0;
    const unhandled = await unhandledDuring(async () => {
      const { worker, events } = await workers.start({
        queue,
        handlers: {
          works: async ({ payload }, { signal }) => {
            if (payload.n === 1) signal.addEventListener("abort", refuse);
            await untilAborted(signal);
            aborted += 1;
            throw signal.reason;
          },
        },
      });
      await queue.enqueueMany(
        workers.db,
        [1, 2, 3].map((n) => ({ kind: "works", payload: { n } }) as const),
      );
      await events.until("job.started", 3);
      await worker.stop({ grace: 0 });
    });
    // Node tells the process, whoever owns the signal: that error is the handler's own.
    expect(unhandled).toEqual([expect.objectContaining({ message: "not readable" })]);
    expect(aborted).toBe(3);
    expect((await workers.jobs()).map(({ status, locked_until }) => [status, locked_until])).toEqual(
      Array.from({ length: 3 }, () => ["queued", null]),
    );
  });

  test("a handler that swallows its timeout and returns has failed all the same, by the timeout", async () => {
    const { events } = await workers.start({
      queue,
      handlers: {
        timed: async (_job, { signal }) => {
          await untilAborted(signal);
        },
      },
    });
    const { id } = await queue.enqueue(workers.db, "timed", null);
    await events.untilFor(id, "job.dead");
    expect((await workers.job(id)).last_error).toContain("timeout of 50 ms");
  });
});

function refuse(): never {
  throw new Error("not readable");
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function cycle(): object {
  const self: Record<string, unknown> = {};
  self["self"] = self;
  return self;
}
