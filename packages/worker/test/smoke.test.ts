import { createQueue, job } from "@queue/core";
import { expect, test } from "vitest";
import { useWorkers } from "./support/use-workers.js";

const workers = useWorkers();
const queue = createQueue({ jobs: { a: job<{ n: number }>() } });

test("smoke", async () => {
  const { events } = await workers.start({ queue, handlers: { a: async () => {} } });
  const { id } = await queue.enqueue(workers.db, "a", { n: 1 });
  await events.until("job.completed");
  expect(await workers.job(id)).toMatchObject({ status: "done", attempts: 1 });
  expect(events.typesFor(id)).toEqual(["job.started", "job.completed"]);
});
