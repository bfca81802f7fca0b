import { createQueue, job } from "@queue/core";
import { describe, expect, test } from "vitest";
import { deferred } from "../src/time/deferred.js";
import { clientListener } from "./support/client-listener.js";
import { useWorkers } from "./support/use-workers.js";

const workers = useWorkers();
const queue = createQueue({ jobs: { index: job(), other: job() } });
const index = { index: () => {} };
const other = { other: () => {} };

/** Hears of new jobs, and looks for none by itself. */
function sleeper() {
  return { queue, listener: clientListener(workers.database.url), pollInterval: "10m" } as const;
}

/** What a worker that died has left of what was due a minute ago: nobody is told of it. */
async function leaveBehind(): Promise<string> {
  const [left] = await workers.sql<{ id: string }>(
    `insert into queue.jobs (kind, status, worker, attempts, claims, run_at, started_at, locked_until)
     values ('index', 'running', 'dead', 1, 1, clock_timestamp() - interval '1 minute', clock_timestamp(), clock_timestamp() - interval '1 second')
     returning id::text as id`,
  );
  if (left === undefined) throw new Error("It was inserted a line above.");
  return left.id;
}

describe("a job that a sweep returns to the queue", () => {
  test("is begun at once by the worker that has swept, whose next poll is far away", async () => {
    const { events } = await workers.start({ ...sleeper(), sweepInterval: 100, handlers: index });
    await events.untilFor(await leaveBehind(), "job.completed");
  });

  test("wakes another worker, when the one that has swept has no handler for it", async () => {
    const { events } = await workers.start({ ...sleeper(), sweepInterval: "1h", handlers: index });
    await workers.start({ ...sleeper(), sweepInterval: 100, handlers: other });
    await events.untilFor(await leaveBehind(), "job.completed");
  });

  test("is found by another worker that does not listen, although its claims have long passed that place", async () => {
    const { events } = await workers.start({ queue, sweepInterval: 400, handlers: index });
    for (let n = 0; n < 4; n++) await events.untilFor((await queue.enqueue(workers.db, "index", null)).id, "job.completed");
    await workers.start({ queue, sweepInterval: 20, handlers: other });
    await events.untilFor(await leaveBehind(), "job.completed");
  });

  test("stands where it stood: before what came after it", async () => {
    const gate = deferred();
    const { events } = await workers.start({
      ...sleeper(),
      concurrency: 1,
      sweepInterval: 50,
      handlers: { index: () => {}, other: () => gate.promise },
    });
    const first = await queue.enqueue(workers.db, "other", null);
    await events.untilFor(first.id, "job.started");
    const waiting: string[] = [];
    for (let n = 0; n < 10; n++) waiting.push((await queue.enqueue(workers.db, "index", null)).id);
    const left = await leaveBehind();
    await events.untilFor(left, "job.lease-lost");
    gate.resolve();
    for (const id of waiting) await events.untilFor(id, "job.completed");
    expect(events.of("job.started").map(({ id }) => id)).toEqual([first.id, left, ...waiting]);
  });
});
