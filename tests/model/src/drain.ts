import { type Run, time } from "./run.js";
import { resume, retry } from "./steps/operator-steps.js";
import { expireLease } from "./steps/time-steps.js";
import { claim, settle, sweep } from "./steps/worker-steps.js";
import { lanes } from "./test-queue.js";

/**
 * Ends what is open, and works until nothing is left to do.
 *
 * @throws Error when a job that was ever committed has not ended then, or has ended more than once
 */
export async function drain(run: Run): Promise<void> {
  const { transactions } = run.world;
  for (const session of transactions.open) await run.control(session, "commit");
  const idsOf = (status: string) =>
    transactions
      .view(time)
      .jobs()
      .filter((job) => job.status === status)
      .map(({ id }) => id);
  for (const lane of lanes) await run.step(time, resume(lane));
  for (const id of idsOf("running")) await run.step(time, expireLease(id));
  await run.step(time, sweep(undefined));
  for (const id of idsOf("queued")) await run.step(time, retry(id));
  for (;;) {
    const claimed = await run.step(time, claim("w1", 10));
    if (claimed.length === 0) break;
    const held = claimed.map((job) => ({ ...job, worker: "w1" }));
    await run.step(time, settle("w1", held, { outcome: "done", isDelayed: false, isOwn: false }));
  }
  await run.expectAllEnded();
}
