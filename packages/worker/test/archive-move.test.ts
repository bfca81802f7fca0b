import { createQueue, job } from "@queue/core";
import { describe, expect, test } from "vitest";
import { useWorkers } from "./support/use-workers.js";

const workers = useWorkers();
const queue = createQueue({ jobs: { index: job<{ n: number }>() } });

/** The database undoes a deletion from `jobs`, so often. */
async function refuseDeletions(times: number): Promise<void> {
  await workers.sql("create sequence deletions");
  await workers.sql(`create function refuse() returns trigger language plpgsql as $$ begin
    if nextval('deletions') <= ${times} then raise exception using errcode = '40001'; end if; return null; end $$`);
  await workers.sql("create trigger refuse after delete on queue.jobs for each statement execute function refuse()");
}

describe("a job that moves to the archive", () => {
  test("does so as a whole: when the move is undone and made again, it is there once", async () => {
    await refuseDeletions(2);
    const { events } = await workers.start({ queue, handlers: { index: () => {} } });
    const enqueued = await queue.enqueueMany(
      workers.db,
      [1, 2, 3].map((n) => ({ kind: "index" as const, payload: { n } })),
    );
    await events.until("job.completed", 3);
    expect(events.of("worker.error").length).toBeGreaterThan(0);
    expect((await workers.jobs()).map(({ id, status }) => ({ id, status }))).toEqual(enqueued.map(({ id }) => ({ id, status: "done" })));
  });
});
