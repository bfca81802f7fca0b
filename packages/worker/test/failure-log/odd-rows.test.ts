import { expect, test } from "vitest";
import { createQueue, job } from "@queue/core";
import { createGate } from "../support/gate.js";
import { useWorkers } from "../support/use-workers.js";

const workers = useWorkers();
const queue = createQueue({ jobs: { works: job(), long: job() } });

test.each([
  ["created at infinity", "created_at", "'infinity'"],
  ["created after the last year that there is", "created_at", "'294276-12-31'"],
  ["whose attempts cannot be counted any further", "attempts", "2147483647"],
])(
  "a job %s, which another program wrote, is refused by the table, or holds up no outcome and no other job",
  async (_name, column, value) => {
    const gate = createGate();
    const { events } = await workers.start({
      queue,
      lease: "1s",
      heartbeat: 100,
      sweepInterval: 50,
      handlers: { works: () => {}, long: () => gate.pass() },
    });
    const { id } = await queue.enqueue(workers.db, "long", null);
    await gate.reached;
    await workers
      .sql(`insert into queue.jobs (kind, ${column}) values ('works', ${value})`)
      .catch((error: unknown) => expect(error).toMatchObject({ code: "23514" }));
    const { id: beside } = await queue.enqueue(workers.db, "works", null);
    gate.open();
    await events.untilFor(id, "job.completed");
    await events.untilFor(beside, "job.completed");
    expect(await workers.job(id)).toMatchObject({ status: "done", attempts: 1 });
  },
);
