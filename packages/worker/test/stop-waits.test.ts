import { createQueue, job } from "@queue/core";
import { describe, expect, test } from "vitest";
import { createGate } from "./support/gate.js";
import { useWorkers } from "./support/use-workers.js";

const workers = useWorkers();
const queue = createQueue({ jobs: { index: job() } });

/** The database undoes a change of `jobs`, twice. */
async function refuseTwice(change: "update" | "delete"): Promise<void> {
  await workers.sql(`create sequence ${change}s`);
  await workers.sql(`create function refuse_${change}() returns trigger language plpgsql as $$ begin
    if nextval('${change}s') <= 2 then raise exception using errcode = '40001'; end if; return null; end $$`);
  await workers.sql(`create trigger refuse_${change} after ${change} on queue.jobs for each statement execute function refuse_${change}()`);
}

describe("a stop waits", () => {
  test("for a handler that ends within its grace, and does not abort its signal meanwhile", async () => {
    const gate = createGate();
    let isAborted: boolean | undefined;
    const { worker, events } = await workers.start({
      queue,
      lease: 1_000,
      heartbeat: 100,
      handlers: {
        index: async (_job, { signal }) => {
          await gate.pass();
          isAborted = signal.aborted;
        },
      },
    });
    const { id } = await queue.enqueue(workers.db, "index", null);
    await gate.reached;
    const stopped = worker.stop({ grace: "20s" });
    await workers.untilHeartbeats(id, 2);
    gate.open();
    await stopped;
    expect(isAborted).toBe(false);
    expect(events.typesFor(id)).toEqual(["job.started", "job.completed"]);
  });

  test("until an outcome is written that the database refused at first", async () => {
    const gate = createGate();
    const { worker, events } = await workers.start({ queue, handlers: { index: () => gate.pass() } });
    const { id } = await queue.enqueue(workers.db, "index", null);
    await gate.reached;
    await refuseTwice("delete");
    const stopped = worker.stop();
    gate.open();
    await stopped;
    expect(events.of("worker.error").length).toBeGreaterThan(0);
    expect(events.typesFor(id)).toEqual(["job.started", "job.completed"]);
    expect(await workers.job(id)).toMatchObject({ status: "done", attempts: 1 });
  });

  test("until a job is given back that the database refused to take at first", async () => {
    const gate = createGate();
    const { worker, events } = await workers.start({ queue, handlers: { index: () => gate.pass() } });
    const { id } = await queue.enqueue(workers.db, "index", null);
    await gate.reached;
    await refuseTwice("update");
    await worker.stop({ grace: 0 });
    expect(events.of("worker.error").length).toBeGreaterThan(0);
    expect(await workers.job(id)).toMatchObject({ status: "queued", locked_until: null });
    gate.open();
  });
});
