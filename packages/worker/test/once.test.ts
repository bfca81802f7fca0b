import { describe, expect, test } from "vitest";
import { createQueue, job, QueueError } from "@queue/core";
import type { OnceOptions, OnceResult } from "@queue/worker";
import { createGate } from "./support/gate.js";
import { useWorkers } from "./support/use-workers.js";

const workers = useWorkers();
const queue = createQueue({
  jobs: { send: job<{ n: number }>({ backoff: { base: 1 }, maxAttempts: 5 }), other: job({ backoff: { base: 1 } }) },
});

/** The record as a process that died in the middle of the effect has left it. */
async function leaveUnknown(id: string, key: string, scope: "job" | "kind" = "job"): Promise<void> {
  await workers.sql("insert into queue.effects (kind, key, job_id, started_by, started_claims) values ('send', $2, $3, $1, 0)", [
    id,
    key,
    scope === "job" ? id : "0",
  ]);
}

function effects(): Promise<{ key: string; job_id: string; is_done: boolean }[]> {
  return workers.sql("select key, job_id::text, done_at is not null as is_done from queue.effects order by key, job_id");
}

describe("an attempt that was cut off until another one had done its job", () => {
  test("begins no effect any more, though the record of the other one is gone with the job", async () => {
    const thrown: unknown[] = [];
    let runs = 0;
    const { events } = await workers.start({
      queue,
      lease: "10m",
      heartbeat: "1m",
      handlers: {
        send: async ({ id }, { once }) => {
          await workers.sql("delete from queue.jobs where id = $1", [id]);
          await once("mail", () => ++runs).catch((error: unknown) => thrown.push(error));
        },
      },
    });
    const { id } = await queue.enqueue(workers.db, "send", { n: 1 });
    await events.untilFor(id, "job.lease-lost");
    expect(runs).toBe(0);
    expect(thrown).toEqual([expect.toSatisfy((error) => QueueError.is(error, "LEASE_LOST"))]);
    expect(await effects()).toEqual([]);
  });
});

describe("once", () => {
  test("runs the effect in the first attempt that comes to it, and in none after", async () => {
    const results: OnceResult<string>[] = [];
    let runs = 0;
    const { events } = await workers.start({
      queue,
      handlers: {
        send: async ({ attempt }, { once }) => {
          results.push(await once("mail", () => `sent ${++runs}`));
          if (attempt < 3) throw new Error("after the effect");
        },
      },
    });
    const { id } = await queue.enqueue(workers.db, "send", { n: 1 });
    await events.until("job.completed");
    expect(results).toEqual([{ ran: true, value: "sent 1" }, { ran: false }, { ran: false }]);
    expect(await effects()).toEqual([{ key: "mail", job_id: id, is_done: true }]);
  });

  test("belongs to its job: another job of the kind has an effect of the same key", async () => {
    let runs = 0;
    const { events } = await workers.start({
      queue,
      handlers: { send: async (_job, { once }) => void (await once("mail", () => void runs++)) },
    });
    await queue.enqueueMany(
      workers.db,
      [1, 2].map((n) => ({ kind: "send", payload: { n } })),
    );
    await events.until("job.completed", 2);
    expect(runs).toBe(2);
  });

  test("belongs to the kind when it says so: one job runs it, all others do not, whatever their number", async () => {
    const ran: number[] = [];
    const { events } = await workers.start({
      queue,
      handlers: {
        send: async ({ payload }, { once }) => {
          const { ran: isMine } = await once("digest", () => {}, { scope: "kind" });
          if (isMine) ran.push(payload.n);
        },
        other: async (_job, { once }) => void (await once("digest", () => {}, { scope: "kind" })),
      },
    });
    await queue.enqueueMany(
      workers.db,
      Array.from({ length: 20 }, (_, n) => ({ kind: "send", payload: { n } })),
    );
    await queue.enqueue(workers.db, "other", null);
    await events.until("job.completed", 21);
    expect(ran).toHaveLength(1);
    expect((await effects()).map(({ job_id, is_done }) => [job_id, is_done])).toEqual([
      ["0", true],
      ["0", true],
    ]);
  });

  test("forgets an effect that threw: the error is the attempt's, and the next one runs it again", async () => {
    let runs = 0;
    const { events } = await workers.start({
      queue,
      handlers: {
        send: async (_job, { once }) => {
          await once("mail", async () => {
            runs += 1;
            if (runs < 3) throw new TypeError(`smtp ${runs}`);
          });
        },
      },
    });
    const { id } = await queue.enqueue(workers.db, "send", { n: 1 });
    await events.until("job.completed");
    expect((await workers.job(id)).errors.map(({ name, message }) => `${name}: ${message}`)).toEqual([
      "TypeError: smtp 1",
      "TypeError: smtp 2",
    ]);
    expect(runs).toBe(3);
  });

  test("has written and committed its record when the effect begins", async () => {
    let seen: unknown;
    const { events } = await workers.start({
      queue,
      handlers: { send: async (_job, { once }) => void (await once("mail", async () => (seen = await effects()))) },
    });
    const { id } = await queue.enqueue(workers.db, "send", { n: 1 });
    await events.until("job.completed");
    expect(seen).toEqual([{ key: "mail", job_id: id, is_done: false }]);
  });

  test("gives the effect the attempt's signal", async () => {
    let isSame = false;
    const { events } = await workers.start({
      queue,
      handlers: { send: async (_job, { once, signal }) => void (await once("mail", (own) => (isSame = own === signal))) },
    });
    await queue.enqueue(workers.db, "send", { n: 1 });
    await events.until("job.completed");
    expect(isSame).toBe(true);
  });

  test("keeps different keys of a job apart, and any text is a key", async () => {
    const keys = ["a", "A", "a ", "constructor", "__proto__", "0/1", "ключ", "x".repeat(1_000)];
    const ran: string[] = [];
    const { events } = await workers.start({
      queue,
      handlers: {
        send: async (_job, { once }) => {
          for (const key of [...keys, ...keys]) await once(key, () => void ran.push(key));
        },
      },
    });
    await queue.enqueue(workers.db, "send", { n: 1 });
    await events.until("job.completed");
    expect(ran).toEqual(keys);
  });

  test("keeps its record as long as the job, and no longer", async () => {
    const { events } = await workers.start({ queue, handlers: { send: async (_job, { once }) => void (await once("mail", () => {})) } });
    await queue.enqueue(workers.db, "send", { n: 1 });
    await events.until("job.completed");
    await workers.start({ queue, handlers: {} });
    expect((await effects()).length).toBeLessThanOrEqual(1);
  });
});

describe("once, when the process died in the middle of the effect", () => {
  const unknown = async (options: OnceOptions, key = "mail") => {
    const results: OnceResult<string>[] = [];
    const { id } = await queue.enqueue(workers.db, "send", { n: 1 });
    await leaveUnknown(id, key, options.scope);
    const { events } = await workers.start({
      queue,
      handlers: { send: async (_job, { once }) => void results.push(await once(key, () => "sent", options)) },
    });
    await Promise.race([events.until("job.completed"), events.until("job.dead")]);
    return { id, results, events };
  };

  test.each([{}, { onUnknown: undefined }, { onUnknown: "skip" }] as const)("skips it by default: %j", async (options) => {
    const { results, id } = await unknown(options);
    expect(results).toEqual([{ ran: false }]);
    expect(await workers.job(id)).toMatchObject({ status: "done", attempts: 1 });
    expect(await effects()).toMatchObject([{ is_done: false }]);
  });

  test("runs it again when that is wanted, and it is done then", async () => {
    const { results } = await unknown({ onUnknown: "run" });
    expect(results).toEqual([{ ran: true, value: "sent" }]);
    expect(await effects()).toMatchObject([{ is_done: true }]);
  });

  test("leaves it to a person: the job is dead, and says why", async () => {
    const { results, events, id } = await unknown({ onUnknown: "dead" });
    expect(results).toEqual([]);
    expect(events.of("job.dead")[0]?.error).toMatchObject({ name: "PermanentError" });
    expect((await workers.job(id)).last_error).toContain('"mail"');
  });

  test.each(["skip", "run", "dead"] as const)("does the same for an effect of the kind: %s", async (onUnknown) => {
    const { results } = await unknown({ scope: "kind", onUnknown });
    expect(results).toEqual({ skip: [{ ran: false }], run: [{ ran: true, value: "sent" }], dead: [] }[onUnknown]);
  });

  test("knows that it is done when only the answer was lost", async () => {
    const results: OnceResult<string>[] = [];
    const { id } = await queue.enqueue(workers.db, "send", { n: 1 });
    await leaveUnknown(id, "mail");
    await workers.sql("update queue.effects set done_at = now()");
    const { events } = await workers.start({
      queue,
      handlers: { send: async (_job, { once }) => void results.push(await once("mail", () => "sent", { onUnknown: "run" })) },
    });
    await events.until("job.completed");
    expect(results).toEqual([{ ran: false }]);
  });
});

describe("once, while another attempt is in the middle of the effect", () => {
  test("fails the attempt, which is tried again, and runs nothing beside it", async () => {
    const gate = createGate();
    let runs = 0;
    const { events } = await workers.start({
      queue,
      handlers: {
        send: async (_job, { once }) => {
          await once(
            "digest",
            async () => {
              runs += 1;
              await gate.pass();
            },
            { scope: "kind", onUnknown: "run" },
          );
        },
      },
    });
    const first = await queue.enqueue(workers.db, "send", { n: 1 });
    await gate.reached;
    const second = await queue.enqueue(workers.db, "send", { n: 2 }, { maxAttempts: 100 });
    const { error } = await events.untilFor(second.id, "job.failed");
    expect(QueueError.is(error, "EFFECT_IN_PROGRESS") && error).toMatchObject({ jobId: second.id, key: "digest", isRetryable: true });
    gate.open();
    await events.untilFor(first.id, "job.completed");
    await events.untilFor(second.id, "job.completed");
    expect(runs).toBe(1);
  });

  test("fails as well when it is the same attempt, twice at the same time", async () => {
    let runs = 0;
    const outcomes: PromiseSettledResult<unknown>[][] = [];
    const { events } = await workers.start({
      queue,
      handlers: {
        send: async (_job, { once }) => {
          outcomes.push(await Promise.allSettled([1, 2, 3].map(() => once("mail", () => ++runs))));
        },
      },
    });
    await queue.enqueue(workers.db, "send", { n: 1 });
    await events.until("job.completed");
    expect(runs).toBe(1);
    expect(outcomes[0]?.filter(({ status }) => status === "fulfilled").length).toBeGreaterThanOrEqual(1);
  });

  test("runs one of many that come at the same moment, over several workers", async () => {
    let runs = 0;
    const start = () =>
      workers.start({
        queue,
        handlers: {
          send: async (_job, { once }) => void (await once("race", () => void runs++, { scope: "kind", onUnknown: "run" })),
        },
      });
    await Promise.all([start(), start(), start()]);
    await queue.enqueueMany(
      workers.db,
      Array.from({ length: 60 }, (_, n) => ({ kind: "send", payload: { n }, options: { maxAttempts: 100 } })),
    );
    await workers.untilJobs("done", 60);
    expect(runs).toBe(1);
  });
});

describe("once in a transactional handler", () => {
  test("writes its record apart, which stays when the transaction is undone", async () => {
    let runs = 0;
    const { events } = await workers.start({
      queue,
      concurrency: 2,
      handlers: {
        send: {
          transactional: true,
          run: async ({ attempt }, { trx, once }) => {
            await trx
              .insertInto("ledger")
              .values({ entry: `attempt ${attempt}`, job: null })
              .execute();
            await once("mail", () => void runs++);
            if (attempt === 1) throw new Error("undone");
          },
        },
      },
    });
    await queue.enqueue(workers.db, "send", { n: 1 });
    await events.until("job.completed");
    expect(runs).toBe(1);
    expect(await workers.ledger()).toEqual(["attempt 2"]);
  });
});

describe("once is refused", () => {
  test.each([
    ["", {}, "once: the key"],
    ["x".repeat(1_001), {}, "once: the key"],
    ["nul \u0000", {}, "once: the key"],
    [7, {}, "once: the key"],
    ["k", { scope: "queue" }, "scope"],
    ["k", { onUnknown: "maybe" }, "onUnknown"],
    ["k", { onunknown: "skip" }, "onunknown"],
    ["k", "job", "once"],
  ])("with the option that is wrong: %j, %j", async (key, options, option) => {
    let runs = 0;
    const { events } = await workers.start({
      queue,
      handlers: { send: async (_job, { once }) => void (await once(key as string, () => void runs++, options as OnceOptions)) },
    });
    await queue.enqueue(workers.db, "send", { n: 1 }, { maxAttempts: 1 });
    const { error } = await events.until("job.dead");
    expect(QueueError.is(error, "INVALID_OPTION") && error.option).toBe(option);
    expect(runs).toBe(0);
    expect(await effects()).toEqual([]);
  });
});
