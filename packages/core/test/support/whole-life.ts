import { createQueue, type Executor, job } from "@queue/core";
import { expect } from "vitest";
import { workerOn } from "./worker-on.js";

/**
 * Everything that core can do, once, through `executor`: for tests of what is around it (a role, a search_path, a schema's
 * name). The tables are empty of jobs before, and not after.
 */
export async function wholeLife(executor: Executor, schema = "queue"): Promise<void> {
  const queue = createQueue({ schema, jobs: { a: job<{ n: number }>({ keep: "1d" }) } });
  const worker = workerOn(executor, { schema });
  const admin = queue.admin(executor);
  const { statements } = worker;

  const first = await queue.enqueue(executor, "a", { n: 1 });
  const keyed = await queue.enqueue(executor, "a", { n: 2 }, { key: "k", keyHolds: "until-ended" });
  const late = await queue.enqueue(executor, "a", { n: 3 }, { delay: "1h", key: "late", keyHolds: "until-started" });
  expect(await queue.enqueue(executor, "a", { n: 2 }, { key: "k", keyHolds: "until-ended" })).toEqual({ id: keyed.id, inserted: false });
  expect(await queue.enqueue(executor, "a", { n: 3 }, { key: "late", keyHolds: "until-started" })).toEqual({
    id: late.id,
    inserted: false,
  });

  const registration = { worker: "w1", kinds: "{a}", lanes: null, host: "h", pid: 1, expiresInMs: 60_000 };
  expect(await worker.run(statements.registerWorker, registration)).toHaveLength(1);
  expect(await worker.lookAhead()).toEqual([{ lane: "default", priority: 5, due_in_ms: expect.any(String) }]);
  const claimed = await worker.claim();
  expect(claimed).toHaveLength(2);
  expect(await worker.extend(claimed)).toHaveLength(2);
  const effect = { kind: "a", key: "mail", jobId: keyed.id, startedBy: keyed.id, startedClaims: 1 };
  expect(await worker.run(statements.beginEffect, { ...effect, worker: "w1", takeOver: "" })).toMatchObject([{ begun: true }]);
  expect(await worker.run(statements.finishEffect, effect)).toHaveLength(1);
  expect(await worker.run(statements.forgetEffect, effect)).toHaveLength(0);
  expect(await worker.complete(claimed.filter(({ id }) => id === first.id))).toEqual([first.id]);
  expect(await worker.run(statements.findEnded, { ids: `{${first.id}}` })).toMatchObject([{ status: "done" }]);
  const error = { name: "Error", message: "no" };
  await worker.requeue({ [keyed.id]: { fence: 1, status: "dead", delayMs: 0, attemptsBack: 0, error } });

  expect(await admin.redrive({ kind: "a", dryRun: true })).toMatchObject({ count: 1 });
  expect(await admin.retry(keyed.id)).toMatchObject({ status: "queued" });
  expect(await admin.retry(late.id)).toMatchObject({ status: "queued" });
  expect(await worker.claim({ leaseMs: -1 })).toHaveLength(2);
  expect(await worker.run(statements.releaseUnknownJobs, { worker: "w1", known: `{${keyed.id},${late.id}}`, until: null })).toEqual([]);
  expect(await worker.sweep()).toHaveLength(2);
  expect(await admin.cancel(late.id)).toMatchObject({ status: "cancelled" });
  await admin.pause("default");
  expect(await worker.claim()).toEqual([]);
  expect(await admin.health()).toMatchObject({ lanes: [{ lane: "default", ready: 1, paused: true }], kindsWithoutWorker: [] });
  await admin.resume("default");
  expect((await admin.jobs()).items).toHaveLength(3);
  expect(await admin.job(first.id)).toMatchObject({ status: "done", payload: { n: 1 } });
  expect(await worker.deleteEnded()).toMatchObject({ keys: "1" });
  expect(await worker.maintainArchive()).toBe(0);
  expect(await worker.run(statements.forgetWorker, { worker: "w1" })).toHaveLength(1);
}
