import * as v from "valibot";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { createQueue, job, type JsonValue, QueueError } from "@queue/core";
import { useWorkers } from "./support/use-workers.js";

const workers = useWorkers();
const queue = createQueue({
  jobs: {
    remind: job({ payload: z.object({ at: z.coerce.date(), count: z.number().default(1) }), maxAttempts: 2, backoff: { base: 1 } }),
    "async.check": job({
      payload: v.pipeAsync(
        v.objectAsync({ id: v.string() }),
        v.checkAsync(async ({ id }) => id !== "refused"),
      ),
      maxAttempts: 1,
    }),
    any: job<JsonValue>(),
  },
});

const values: JsonValue[] = [
  {},
  [],
  [1, [2]],
  "text",
  "",
  0,
  false,
  null,
  { a: { b: [null, "é\u{1F600}"] } },
  { constructor: 2, toString: "x" },
  1.5e300,
  "{1,2}",
];

describe("the payload that a handler gets", () => {
  test("is the schema's output, made anew from what is stored at each attempt", async () => {
    const seen: unknown[] = [];
    const { events } = await workers.start({
      queue,
      handlers: {
        remind: ({ payload, attempt }) => {
          seen.push(structuredClone(payload));
          payload.count = 99;
          if (attempt === 1) throw new Error("again");
        },
      },
    });
    await queue.enqueue(workers.db, "remind", { at: "2026-01-02T03:04:05.000Z" });
    await events.until("job.completed");
    const expected = { at: new Date("2026-01-02T03:04:05.000Z"), count: 1 };
    expect(seen).toEqual([expected, expected]);
  });

  test.each(values.map((payload) => ({ payload })))("is what was enqueued: $payload", async ({ payload }) => {
    let seen: unknown;
    const { events } = await workers.start({ queue, handlers: { any: (one) => void (seen = one.payload) } });
    await queue.enqueue(workers.db, "any", payload);
    await events.until("job.completed");
    expect(seen).toEqual(payload);
  });

  test("that no longer parses is a failed attempt, which says where", async () => {
    let runs = 0;
    const { events } = await workers.start({ queue, handlers: { remind: () => void runs++ } });
    const { id } = await queue.enqueue(workers.db, "remind", { at: "2026-01-02" }, { delay: "1h" });
    await workers.sql(`update queue.jobs set payload = '{"at": "2026-01-02", "count": "many"}', run_at = now() where id = $1`, [id]);
    const [failed, dead] = await Promise.all([events.until("job.failed"), events.until("job.dead")]);
    for (const { error } of [failed, dead]) expect(QueueError.is(error, "INVALID_PAYLOAD") && error.path).toBe("$.count");
    expect(await workers.job(id)).toMatchObject({ status: "dead", attempts: 2 });
    expect(runs).toBe(0);
  });

  test("is checked by a schema that takes its time, too", async () => {
    const { events } = await workers.start({ queue, handlers: { "async.check": () => {} } });
    const { id } = await queue.enqueue(workers.db, "async.check", { id: "accepted" });
    await events.untilFor(id, "job.completed");
    const other = await queue.enqueue(workers.db, "async.check", { id: "accepted" }, { delay: "1h" });
    await workers.sql(`update queue.jobs set payload = '{"id": "refused"}', run_at = now() where id = $1`, [other.id]);
    const { error } = await events.untilFor(other.id, "job.dead");
    expect(QueueError.is(error, "INVALID_PAYLOAD")).toBe(true);
  });
});
