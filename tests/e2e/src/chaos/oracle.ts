import { sql } from "kysely";
import { times } from "./chaos-queue.js";
import type { ChaosWorld } from "./chaos-world.js";
import { readRunLogs, type RunEntry } from "./run-log.js";

/** What must be zero, and how long recoveries took. */
export interface Verdict {
  readonly jobs: number;
  readonly runs: number;
  readonly violations: Readonly<Record<string, number>>;
  /** From the death of a worker to the next start of a job that it was running. */
  readonly longestRecoveryMs: number;
}

interface Run extends RunEntry {
  endedAtMs: number | undefined;
}

/** Judges a run by the tables and by what the handlers logged. Only when everything has settled. */
export async function judge(world: ChaosWorld): Promise<Verdict> {
  const entries = readRunLogs(world.folder);
  const runs = toRuns(entries);
  const count = async (query: ReturnType<typeof sql<{ count: string }>>) => Number((await query.execute(world.db)).rows[0]?.count ?? -1);
  const tokens = new Set((await world.db.selectFrom("orders").select("token").execute()).map(({ token }) => token));
  const effects = new Map<string, number>();
  for (const { job } of entries.filter(({ what }) => what === "effect")) effects.set(job, (effects.get(job) ?? 0) + 1);
  return {
    jobs: await count(sql`select count(*) from queue.all_jobs`),
    runs: runs.length,
    longestRecoveryMs: longestRecovery(world, runs),
    violations: {
      "job without its order": await count(
        sql`select count(*) from queue.all_jobs j where not exists (select from orders o where o.token = j.payload->>'token')`,
      ),
      "order without its jobs": await count(
        sql`select count(*) from orders o where not exists (select from queue.all_jobs j where o.token = j.payload->>'token')`,
      ),
      "key inserted twice": await count(
        sql`select count(*) from (select from queue.all_jobs group by kind, idempotency_key having count(*) > 1) d`,
      ),
      "ran after a rollback": runs.filter(({ token }) => !tokens.has(token)).length,
      "not ended": await count(sql`select count(*) from queue.jobs where status <> 'dead'`),
      "still locked": await count(sql`select count(*) from queue.jobs where locked_until is not null or status = 'running'`),
      "dead without reason": await count(sql`select count(*) from queue.jobs where status = 'dead' and kind <> 'hopeless'`),
      "dead not after exactly its attempts": await count(
        sql`select count(*) from queue.jobs where status = 'dead' and attempts <> max_attempts`,
      ),
      "hopeless but not dead": await count(sql`select count(*) from queue.all_jobs where kind = 'hopeless' and status <> 'dead'`),
      "ledger entry missing": await count(
        sql`select count(*) from queue.all_jobs j where kind = 'transactional' and status = 'done' and not exists (select from ledger l where l.job_id = j.id)`,
      ),
      "ledger entry twice": await count(sql`select count(*) from (select from ledger group by job_id having count(*) > 1) d`),
      "once effect twice": [...effects.values()].filter((carriedOut) => carriedOut > 1).length,
      "two at a time within the lease": overlaps(runs),
    },
  };
}

function toRuns(entries: readonly RunEntry[]): Run[] {
  const key = ({ pid, job, attempt }: RunEntry) => `${pid} ${job} ${attempt}`;
  const runs = new Map<string, Run>();
  for (const entry of entries.filter(({ what }) => what === "start")) runs.set(key(entry), { ...entry, endedAtMs: undefined });
  for (const entry of entries.filter(({ what }) => what === "end")) {
    const run = runs.get(key(entry));
    if (run !== undefined) run.endedAtMs = entry.atMs;
  }
  return [...runs.values()].sort((a, b) => a.atMs - b.atMs);
}

/** Runs of a job that began while another was under way and its lease, counted from its start alone, had not run out. */
function overlaps(runs: readonly Run[]): number {
  let found = 0;
  for (const ofJob of byJob(runs).values()) {
    for (const [index, run] of ofJob.entries()) {
      const before = ofJob.slice(0, index).filter(({ pid }) => pid !== run.pid);
      // The lease counts from the claim, which the handler's start follows by what the machine's load makes of it.
      if (
        before.some((other) => run.atMs < (other.endedAtMs ?? other.atMs + times.leaseMs) && run.atMs < other.atMs + times.leaseMs * 0.75)
      )
        found += 1;
    }
  }
  return found;
}

function longestRecovery({ deaths }: ChaosWorld, runs: readonly Run[]): number {
  const jobs = byJob(runs);
  const recoveries = deaths.flatMap(({ pid, atMs }) =>
    runs
      .filter((run) => run.pid === pid && run.endedAtMs === undefined && run.atMs < atMs)
      .flatMap((run) => {
        const next = jobs.get(run.job)?.find((later) => later.atMs > atMs && later.pid !== pid);
        return next === undefined ? [] : [next.atMs - atMs];
      }),
  );
  return Math.max(0, ...recoveries);
}

function byJob(runs: readonly Run[]): Map<string, Run[]> {
  const jobs = new Map<string, Run[]>();
  for (const run of runs) jobs.set(run.job, [...(jobs.get(run.job) ?? []), run]);
  return jobs;
}
