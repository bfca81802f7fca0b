import { createQueue, job } from "@queue/core";
import { describe, test } from "vitest";
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

/** What a worker that died has left: nobody is told of it. */
async function leaveBehind(): Promise<string> {
  const [left] = await workers.sql<{ id: string }>(
    `insert into queue.jobs (kind, status, worker, attempts, claims, started_at, locked_until)
     values ('index', 'running', 'dead', 1, 1, clock_timestamp(), clock_timestamp() - interval '1 second') returning id::text as id`,
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
});
