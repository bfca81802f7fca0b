import { createQueue, job } from "@queue/core";
import { expect, test } from "vitest";
import { useWorkers } from "./support/use-workers.js";

const workers = useWorkers();
const queue = createQueue({ jobs: { a: job<{ n: number }>({ maxAttempts: 2, backoff: { base: 0, cap: 0 } }) } });
const keepPlans = "proname ~ '^(claim_jobs|complete_and_claim|complete_jobs|extend_leases|look_ahead|requeue_jobs)_[0-9a-f]{12}$'";

test("a worker whose functions a migration drops while it runs goes on, and each job runs to its end", async () => {
  const { worker, events } = await workers.start({
    queue,
    lease: "1s",
    heartbeat: 50,
    handlers: {
      a({ payload, attempt }) {
        if (payload.n === 0 && attempt === 1) throw new Error("once more");
      },
    },
  });
  const enqueue = () =>
    queue.enqueueMany(
      workers.db,
      [0, 1, 2].map((n) => ({ kind: "a", payload: { n } }) as const),
    );
  await enqueue();
  await events.until("job.completed", 3);
  await workers.sql(`do $$ declare f text; begin
    for f in select oid::regprocedure::text from pg_proc where pronamespace = 'queue'::regnamespace and ${keepPlans} loop execute 'drop function ' || f; end loop;
  end $$`);
  expect(await workers.sql(`select from pg_proc where ${keepPlans}`)).toEqual([]);
  await enqueue();
  await events.until("job.completed", 6);
  await worker.stop();
  expect(events.of("worker.error")).toEqual([]);
  expect((await workers.jobs()).map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => "done"));
});
