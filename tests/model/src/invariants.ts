import type { Job } from "./view.js";

/**
 * What is true of every committed state, whoever wrote it: these rules are not those of the model, and guard it.
 *
 * @param before the committed jobs of the step before
 * @throws Error that names the rule
 */
export function checkInvariants(before: readonly Job[], jobs: readonly Job[]): void {
  const earlier = new Map(before.map((job) => [job.id, job]));
  for (const job of jobs) {
    const then = earlier.get(job.id);
    expectTrue(job.attempts >= 0 && job.attempts <= job.maxAttempts, job, "has more attempts than it may, or fewer than none");
    expectTrue(job.attempts <= job.claims, job, "has attempts that no claim counted");
    expectTrue((job.status === "running") === (job.lease !== null), job, "has a lease and does not run, or the reverse");
    if (then === undefined) continue;
    expectTrue(job.claims >= then.claims, job, "has a fence that went back");
    expectTrue(!hasEnded(then) || job.status === then.status, job, "has ended, and then something else became of it");
  }
  const held = jobs.filter((job) => !hasEnded(job) && job.status !== "dead");
  expectDistinct(
    held.filter(({ hold }) => hold === "ended"),
    "has its key until it has ended, and so has",
  );
  expectDistinct(
    held.filter(({ hold, claims }) => hold === "started" && claims === 0),
    "has its key until it is started, and so has",
  );
}

const hasEnded = ({ status }: Job) => status === "done" || status === "cancelled";

function expectDistinct(jobs: readonly Job[], what: string): void {
  for (const job of jobs) {
    const other = jobs.find(({ id, kind, key }) => id !== job.id && kind === job.kind && key === job.key);
    expectTrue(other === undefined, job, `${what} job ${other?.id}`);
  }
}

function expectTrue(isTrue: boolean, { id }: Job, what: string): void {
  if (!isTrue) throw new Error(`Job ${id} ${what}.`);
}
