import { type RawBuilder, sql } from "kysely";
import { applications } from "./chaos-queue.js";

/** A column of the report; `broken` is what belongs to none of the others. */
export type Harm = "lost" | "doubled" | "stuck" | "broken";

export interface Finding {
  /** Null when the finding is not about one job. */
  readonly job_id: string | null;
  /** When it happened, as far as one can say. */
  readonly at: Date | null;
  readonly detail: string;
}

/** A promise, and the query that finds what breaks it. */
export interface Rule {
  readonly name: string;
  readonly harm: Harm;
  readonly findings: RawBuilder<Finding>;
}

/** Instants of processes and of the database are compared: two readings of the same clock, brought together within this. */
const tolerance = sql`interval '5 ms'`;

/** A claim that was on its way when its process was killed is carried out, and noted, as much later at most. */
const onItsWay = sql`interval '2 s'`;

/** What a worker that stops has for all that it still wants to say, and a little. */
const lastWords = sql`interval '6 s'`;

/** Whether a process was killed at `e` before claim `c` had ended at `l`: it had the job, or was about to get it. */
export const isKilledMeanwhile = sql<boolean>`e.pid = c.pid and e.is_killed and e.at between c.at - ${onItsWay} and l.at`;

/**
 * Attempts that were spent though no handler started, and that were not given back. Left out are those that nobody can know of,
 * because the process was killed between its claim and its handler's start, or was cut off when it claimed and ended before it
 * was back.
 */
export const spentUnstarted = sql`(
  select c.job_id, c.at, 'attempt ' || c.attempt || ' of ' || c.kind || ' in process ' || c.pid as detail from chaos.changes c
   where c.is_claim
     and not exists (
       select from chaos.runs r
        where r.job_id = c.job_id and r.pid = c.pid and r.attempt = c.attempt and r.started_at >= c.at - ${tolerance})
     and not exists (select from chaos.changes b where b.job_id = c.job_id and b.claims = c.claims and b.is_given_back)
     and not exists (
       select from chaos.ends e join chaos.changes l on l.job_id = c.job_id and l.claims = c.claims and not l.is_claim
        where ${isKilledMeanwhile})
     and not exists (
       select from chaos.ends e join chaos.faults f on f.name like 'network%'
        where e.pid = c.pid and f.began_at <= c.at + ${onItsWay} and f.ended_at >= c.at - ${onItsWay}
          and e.at between c.at and f.ended_at + ${lastWords}))`;

/** The claim that a run `r` belongs to: the last of its process for this attempt, before it started. */
export const claimOfRun = sql`(
  select c.claims from chaos.changes c
   where c.job_id = r.job_id and c.is_claim and c.pid = r.pid and c.attempt = r.attempt and c.at <= r.started_at + ${tolerance}
   order by c.at desc limit 1)`;

export const rules: readonly Rule[] = [
  {
    name: "a committed job is not there",
    harm: "lost",
    findings: sql`
      select null as job_id, o.placed_at as at, k.kind || ' ' || o.token || '/' || k.n as detail
        from orders o cross join lateral unnest(o.kinds) with ordinality k(kind, n)
       where not exists (select from queue.all_jobs j where j.kind = k.kind and j.idempotency_key = o.token || '/' || k.n)`,
  },
  {
    name: "dead, though its handler does not fail",
    harm: "lost",
    findings: sql`
      select id as job_id, finished_at as at, kind || ': ' || last_error as detail
        from queue.all_jobs where status = 'dead' and kind <> 'hopeless'`,
  },
  {
    name: "done, though its handler never came to an end",
    harm: "lost",
    findings: sql`
      select id as job_id, finished_at as at, kind as detail from queue.all_jobs j
       where status <> 'dead' and finished_at is not null and not exists (select from chaos.runs r where r.job_id = j.id and r.is_ok)`,
  },
  {
    name: "done, though its transaction left no ledger entry",
    harm: "lost",
    findings: sql`
      select id as job_id, finished_at as at, kind as detail from queue.all_jobs j
       where kind = 'transactional' and status = 'done' and not exists (select from ledger l where l.job_id = j.id)`,
  },
  {
    name: "a job is there twice",
    harm: "doubled",
    findings: sql`
      select max(id) as job_id, max(created_at) as at, kind || ' ' || idempotency_key as detail
        from queue.all_jobs group by kind, idempotency_key having count(*) > 1`,
  },
  {
    name: "a job is there though its transaction was rolled back",
    harm: "doubled",
    findings: sql`
      select id as job_id, created_at as at, kind as detail
        from queue.all_jobs j where not exists (select from orders o where o.token = j.payload->>'token')`,
  },
  {
    name: "a job ran though its transaction was rolled back",
    harm: "doubled",
    findings: sql`
      select job_id, started_at as at, 'in process ' || pid as detail
        from chaos.runs r where not exists (select from orders o where o.token = r.token)`,
  },
  {
    name: "two ledger entries of one job",
    harm: "doubled",
    findings: sql`select job_id, max(entered_at) as at, count(*) || ' entries' as detail from ledger group by job_id having count(*) > 1`,
  },
  {
    name: "a ledger entry of a job that is not done",
    harm: "doubled",
    findings: sql`
      select job_id, entered_at as at, l.token as detail from ledger l
       where not exists (select from queue.all_jobs j where j.id = l.job_id and j.status = 'done')`,
  },
  {
    name: "an effect of once carried out twice",
    harm: "doubled",
    findings: sql`
      select job_id, max(at) as at, 'in processes ' || string_agg(pid::text, ', ') as detail
        from chaos.carried_out group by job_id having count(*) > 1`,
  },
  {
    // Of two that overlap, the one of the earlier claim is the intruder, also when it was frozen and started last.
    name: "two handlers at a time, though the lease had not run out",
    harm: "doubled",
    findings: sql`
      with r as materialized (
        select r.*, ${claimOfRun} as claims,
               coalesce(r.ended_at, (select min(e.at) from chaos.ends e where e.pid = r.pid and e.at > r.started_at), 'infinity') as over_at
          from chaos.runs r where r.job_id in (select job_id from chaos.runs group by job_id having count(*) > 1))
      select r.job_id, later.started_at as at, 'in processes ' || r.pid || ' and ' || later.pid as detail
        from r join r as later on later.job_id = r.job_id and later.started_at > r.started_at and later.started_at < r.over_at
       where not exists (
         select from chaos.changes x
          where x.job_id = r.job_id and x.claims = least(r.claims, later.claims) and r.claims <> later.claims
            and x.reason = 'LeaseExpired' and x.leased_until < x.at and x.at <= later.started_at + ${tolerance})`,
  },
  {
    name: "not ended",
    harm: "stuck",
    findings: sql`
      select id as job_id, created_at as at, kind || ' is ' || status || ' since ' || coalesce(started_at, run_at) as detail
        from queue.all_jobs where status not in ('done', 'dead')`,
  },
  {
    name: "still locked",
    harm: "stuck",
    findings: sql`
      select id as job_id, created_at as at, kind || ' by ' || coalesce(worker, 'nobody') as detail
        from queue.all_jobs where locked_until is not null`,
  },
  {
    name: "a session or a lock is left",
    harm: "stuck",
    findings: sql`
      select null as job_id, backend_start as at, application_name || ': ' || coalesce(state, '') || ' ' || query as detail from pg_stat_activity
       where datname = current_database()
         and application_name in (${sql.join([applications.worker, applications.listener, applications.transaction, applications.producer])})
      union all
      select null, null, locktype || ' ' || mode || ' of session ' || pid from pg_locks
       where database = (select oid from pg_database where datname = current_database()) and locktype = 'advisory'`,
  },
  {
    name: "dead, but not after exactly its attempts",
    harm: "broken",
    findings: sql`
      select id as job_id, finished_at as at, attempts || ' of ' || max_attempts || ' counted, ' || started || ' started' as detail
        from queue.all_jobs j
       cross join lateral (select count(distinct r.attempt) as started from chaos.runs r where r.job_id = j.id) r
       where status = 'dead' and (attempts <> max_attempts or started > max_attempts)`,
  },
  {
    name: "a lease was taken away before it ran out",
    harm: "broken",
    findings: sql`
      select job_id, at, 'of process ' || pid || ', leased until ' || leased_until as detail
        from chaos.changes where leased_until >= at and (is_claim or reason = 'LeaseExpired')`,
  },
  {
    // Of a job that is done it has cost nothing: see `spentUnstarted`.
    name: "an attempt was spent that no handler started",
    harm: "broken",
    findings: sql`
      select c.job_id, c.at, c.detail from ${spentUnstarted} c
       where not exists (select from queue.jobs_archive a where a.id = c.job_id and a.status = 'done')`,
  },
  {
    // The first statement of a transactional handler names the session; before it, the session has done nothing but begin. And
    // before a worker claims anything, it measures how many transactions its pool can have at a time. A pool whose driver gave a
    // BEGIN up (query_timeout) hands the connection out again, with the transaction open: the worker's own statements may get it.
    name: "idle in a transaction, though no transactional handler had the session",
    harm: "broken",
    findings: sql`
      select null as job_id, min(at) as at, application || ' ' || session || ' after: ' || query as detail from chaos.idle_sessions
       where application <> ${applications.transaction} and query !~* '^\\s*(begin|start transaction|select 1 as ok|with "mine")' group by application, session, query`,
  },
];
