import type { JobNames } from "./job-names.js";
import type { Session } from "./session.js";
import { lanes } from "./test-queue.js";
import type { Hold, Job, View } from "./view.js";

interface Row extends Omit<Job, "id" | "hold" | "dueAt" | "isKept"> {
  readonly id: string;
  readonly isDelayed: boolean;
}

interface Tables {
  readonly jobs: readonly Row[];
  readonly keys: readonly { readonly name: string; readonly job: string; readonly hold: Hold; readonly isOver: boolean }[];
  readonly paused: readonly string[];
}

const allTables = `select
  (select coalesce(json_agg(j), '[]') from (
    select id::text, kind, lane, idempotency_key as key, status, attempts, max_attempts as "maxAttempts", claims, redrives, worker,
           run_at > clock_timestamp() + interval '30 minutes' as "isDelayed", jsonb_array_length(errors) as failures,
           case when locked_until is not null then case when locked_until < clock_timestamp() then 'over' else 'live' end end as lease
      from queue.all_jobs) j) as jobs,
  (select coalesce(json_agg(k), '[]') from (
    select kind || '/' || key as name, job_id::text as job, coalesce(release_on::text, 'time') as hold, expires_at < clock_timestamp() as "isOver"
      from queue.job_keys) k) as keys,
  (select coalesce(json_agg(lane), '[]') from queue.lanes where paused_at is not null) as paused`;

/** Everything that `session` sees in the tables, a line each, as {@link linesOf} writes what the model says. */
export async function readLines(session: Session, names: JobNames): Promise<string[]> {
  const [tables] = await session.query<Tables & Record<string, unknown>>(allTables);
  return [
    ...(tables?.jobs ?? []).map(({ id, ...job }) => jobLine({ ...job, id: names.nameOf(id) })),
    ...(tables?.keys ?? []).map(({ job, ...key }) => keyLine({ ...key, job: names.nameOf(job) })),
    ...(tables?.paused ?? []).map(laneLine),
  ].sort();
}

export function linesOf(view: View): string[] {
  const jobs = view.jobs().filter((job) => job.isKept || (job.status !== "done" && job.status !== "cancelled"));
  return [
    ...jobs.map((job) => jobLine({ ...job, isDelayed: job.dueAt === Infinity })),
    ...view.keys().map(([name, key]) => keyLine({ ...key, name })),
    ...lanes.filter((lane) => view.isPaused(lane)).map(laneLine),
  ].sort();
}

function jobLine(job: Omit<Job, "hold" | "dueAt" | "isKept"> & { readonly isDelayed: boolean }): string {
  const { id, kind, lane, key, status, attempts, maxAttempts, claims, redrives, worker, lease, failures, isDelayed } = job;
  const claimed = claims === 0 ? "never claimed" : `attempt ${attempts} of ${maxAttempts}, claim ${claims} by ${worker}`;
  return [
    `job ${id}: ${kind} in ${lane}${key === null ? "" : ` with key ${key}`}, ${status}, ${claimed}`,
    ...(lease === null ? [] : [`lease ${lease}`]),
    ...(isDelayed ? ["later"] : []),
    ...(failures > 0 ? [`${failures} failures`] : []),
    ...(redrives > 0 ? [`${redrives} redrives`] : []),
  ].join(", ");
}

function keyLine({ name, job, hold, isOver }: Tables["keys"][number] | { name: string; job: number; hold: Hold; isOver: boolean }): string {
  return `key ${name}: job ${job}, held ${hold === "time" ? `for a time${isOver ? " that is over" : ""}` : `until ${hold}`}`;
}

const laneLine = (lane: string) => `lane ${lane}: paused`;
