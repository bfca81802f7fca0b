import { sql } from "kysely";
import { type ChaosDatabase, times } from "./chaos-queue.js";
import { snapshotFault } from "./fault.js";
import { claimOfRun, isKilledMeanwhile, type Finding, type Harm, type Rule, rules, spentUnstarted } from "./oracle-rules.js";

export interface Violation {
  readonly rule: string;
  readonly harm: Harm;
  readonly count: number;
  /** The first of them. */
  readonly findings: readonly Finding[];
}

/** What all injections of a fault did. */
export interface FaultSummary {
  readonly name: string;
  readonly times: number;
  readonly jobs: number;
  readonly lost: number;
  readonly doubled: number;
  readonly stuck: number;
  readonly longestRecoveryMs: number | null;
}

export interface Recovery {
  readonly job_id: string;
  readonly ms: number;
  readonly fault: string | null;
}

export interface Verdict {
  readonly jobs: number;
  readonly runs: number;
  readonly dead: number;
  readonly expiredLeases: number;
  /** Claims whose process was killed before it called the handler: each has cost an attempt, because nobody can know. */
  readonly killedBeforeStart: number;
  /** Attempts that were spent though no handler started, of jobs that are done all the same. */
  readonly spentUnstarted: number;
  /** Handlers that were called when the lease had been taken away already: of processes that were frozen, or starved of connections. */
  readonly startedLate: number;
  /** From the commit of a job to its first claim: what a backlog, or a time without workers, made of it. */
  readonly longestWaitMs: number | null;
  readonly faults: readonly FaultSummary[];
  /** From a worker's death to the restart of a job that it held, when nothing else went wrong meanwhile, and of how many deaths. */
  readonly longestRestartMs: number | null;
  readonly deathsAlone: number;
  /** The same when something else went wrong before the restart: another death, a network, a lock. */
  readonly longestRestartBesidesMs: number | null;
  readonly barMs: number;
  /** The longest of all recoveries, whatever it was from. */
  readonly slowest: readonly Recovery[];
  /** Of every rule; those with a count of zero were kept. */
  readonly violations: readonly Violation[];
}

export const barMs = times.leaseMs + times.sweepMs + 1_000;
/** The one rule that depends on how fast the machine is. */
export const barRule = "a job of a dead worker started again later than the bar";
const mostFindings = 1_000;

/** Judges a run by what is in its database. Only when everything has settled, the processes have ended, and the evidence is loaded. */
export async function judge(db: ChaosDatabase): Promise<Verdict> {
  await noteRecoveries(db);
  const violations: Violation[] = [];
  for (const rule of rules) violations.push(await check(db, rule));
  violations.push(await checkBar(db));
  const {
    rows: [totals],
  } = await sql<{
    jobs: string;
    dead: string;
    runs: string;
    expired: string;
    killed: string;
    unstarted: string;
    late: string;
    wait: number | null;
    longest: number | null;
    deaths: string;
    besides: number | null;
  }>`
    select (select count(*) from queue.all_jobs) as jobs, (select count(*) from queue.all_jobs where status = 'dead') as dead,
           (select count(*) from chaos.runs) as runs,
           (select count(*) from chaos.changes where reason = 'LeaseExpired') as expired,
           (select count(*) from chaos.changes c join chaos.changes l on l.job_id = c.job_id and l.claims = c.claims and not l.is_claim
             where c.is_claim and exists (select from chaos.ends e where ${isKilledMeanwhile})
               and not exists (select from chaos.runs r where r.job_id = c.job_id and r.pid = c.pid and r.attempt = c.attempt)) as killed,
           (select count(*) from chaos.runs r join chaos.changes x on x.job_id = r.job_id and x.reason = 'LeaseExpired' and x.pid = r.pid
               and x.attempt = r.attempt and x.at < r.started_at and x.claims = ${claimOfRun}) as late,
           (select count(*) from ${spentUnstarted} c join queue.jobs_archive a on a.id = c.job_id and a.status = 'done') as unstarted,
           (select (extract(epoch from max(c.at - j.created_at)) * 1000)::float8 from chaos.changes c
              join queue.all_jobs j on j.id = c.job_id where c.is_claim and c.claims = 1 and c.kind <> 'newer') as wait,
           (select max(ms)::float8 from chaos.recoveries where is_death and is_alone) as longest,
           (select count(distinct pid) from chaos.recoveries where is_death and is_alone) as deaths,
           (select max(ms)::float8 from chaos.recoveries where is_death and not is_alone) as besides`.execute(db);
  if (totals === undefined) throw new Error("A query of aggregates has one row.");
  return {
    jobs: Number(totals.jobs),
    runs: Number(totals.runs),
    dead: Number(totals.dead),
    expiredLeases: Number(totals.expired),
    killedBeforeStart: Number(totals.killed),
    spentUnstarted: Number(totals.unstarted),
    startedLate: Number(totals.late),
    longestWaitMs: totals.wait,
    faults: await summarize(db, violations),
    longestRestartMs: totals.longest,
    deathsAlone: Number(totals.deaths),
    longestRestartBesidesMs: totals.besides,
    slowest: (
      await sql<Recovery>`
        select job_id::text, ms::float8, f.name as fault from chaos.recoveries r left join chaos.faults f on f.id = r.fault
         order by ms desc limit 5`.execute(db)
    ).rows,
    barMs,
    violations,
  };
}

/** Everything that is known about a job, line by line. */
export async function historyOf(db: ChaosDatabase, jobId: string): Promise<readonly string[]> {
  const { rows } = await sql<{ line: string }>`
    select to_char(at at time zone 'UTC', 'HH24:MI:SS.MS') || ' ' || what as line from (
      select at, case when is_claim then 'claim ' || claims || ', attempt ' || attempt || ', by process ' || pid
                      else 'claim ' || claims || ' of process ' || pid || ' ends: ' || became || ', ' || coalesce(reason, '')
                           || ', leased until ' || to_char(leased_until at time zone 'UTC', 'HH24:MI:SS.MS') end as what
        from chaos.changes where job_id = ${jobId}
      union all select started_at, 'attempt ' || attempt || ' starts in process ' || pid from chaos.runs where job_id = ${jobId}
      union all select ended_at, 'attempt ' || attempt || ' ends in process ' || pid || case when is_ok then '' else ' by an error' end
                  from chaos.runs where job_id = ${jobId} and ended_at is not null
      union all select at, 'the effect of once, in process ' || pid from chaos.carried_out where job_id = ${jobId}
      union all select created_at, 'enqueued, ' || kind || ' ' || idempotency_key from queue.all_jobs where id = ${jobId}
      union all select coalesce(finished_at, clock_timestamp()), 'is ' || status || ', attempts ' || attempts || ' of ' || max_attempts
                  from queue.all_jobs where id = ${jobId}
      union all select e.at, 'process ' || e.pid || case when e.is_killed then ' is killed' else ' ends' end from chaos.ends e
                 where e.pid in (select pid from chaos.changes where job_id = ${jobId})
                   and e.at < (select max(at) + interval '10 s' from chaos.changes where job_id = ${jobId})
      union all select f.began_at, 'fault: ' || f.name || coalesce(' ' || f.pid, '') || ', for ' || (f.ended_at - f.began_at) from chaos.faults f
                  join queue.all_jobs j on j.id = ${jobId} and f.ended_at > j.created_at - interval '5 s' and f.began_at < coalesce(j.finished_at, clock_timestamp())
    ) h order by at`.execute(db);
  return rows.map(({ line }) => line);
}

async function check(db: ChaosDatabase, { name, harm, findings }: Rule): Promise<Violation> {
  const { rows } = await sql<Finding & { total: string }>`
    select job_id::text, at, detail, count(*) over ()::text as total from (${findings}) f order by at limit ${mostFindings}`.execute(db);
  return {
    rule: name,
    harm,
    count: Number(rows[0]?.total ?? 0),
    findings: rows.map(({ job_id, at, detail }) => ({ job_id, at, detail })),
  };
}

async function checkBar(db: ChaosDatabase): Promise<Violation> {
  const late = sql<Finding>`
    select job_id, from_at as at, 'started again ' || round(ms) || ' ms after the death of process ' || pid as detail
      from chaos.recoveries where is_death and is_alone and ms > ${barMs}`;
  return check(db, { name: barRule, harm: "broken", findings: late });
}

/**
 * How long each job that was cut short waited for its next start. When its lease ran out, it is counted from the death of its
 * worker, from the moment it was frozen, or else from the last sign of life: the claim or heartbeat that the lease was from.
 * When it was put back, from that moment. And when something stopped every worker meanwhile, from the end of that. `is_alone`: no
 * other fault stood in the way of the restart; a snapshot held open never does.
 */
async function noteRecoveries(db: ChaosDatabase): Promise<void> {
  const lease = sql`${times.leaseMs} * interval '1 ms'`;
  await sql`
    create table chaos.recoveries as
    with cut as (
      select l.job_id, l.claims, l.pid, l.at, l.reason = 'LeaseExpired' as is_expired, l.leased_until - ${lease} as seen_at,
             case when l.reason = 'LeaseExpired' then l.leased_until else l.at end as over_at,
             (select min(e.at) from chaos.ends e where ${isKilledMeanwhile}) as died_at,
             (select min(r.started_at) from chaos.runs r where r.job_id = l.job_id and r.started_at > l.at) as restarted_at
        from chaos.changes l
        join chaos.changes c on c.job_id = l.job_id and c.claims = l.claims and c.is_claim
       where not l.is_claim and l.became = 'queued' and (l.reason = 'LeaseExpired' or l.kind <> 'hopeless')),
    blamed as (
      select cut.*, f.id as fault, f.began_at, f.pid is not null as is_of_one from cut left join lateral (
        select * from chaos.faults f
         where (f.pid is null or f.pid = cut.pid) and f.began_at <= cut.over_at and f.ended_at >= cut.over_at - ${lease} * 2
         order by f.pid is not null desc, f.began_at desc limit 1) f on true),
    since as (
      select *, case when not is_expired then at
                     when died_at is not null then died_at
                     when is_of_one then greatest(began_at, seen_at)
                     else seen_at end as since_at
        from blamed where restarted_at is not null)
    select job_id, claims, pid, fault, is_expired and died_at is not null as is_death, from_at,
           extract(epoch from restarted_at - from_at) * 1000 as ms,
           not exists (select from chaos.faults o
                        where o.pid is distinct from since.pid and o.name <> ${snapshotFault} and o.began_at < restarted_at and o.ended_at > from_at) as is_alone
      from since cross join lateral (
        select greatest(since_at, max(o.ended_at)) as from_at from chaos.faults o
         where o.stops_everybody and o.began_at < restarted_at and o.ended_at > since_at and o.ended_at <= restarted_at) o`.execute(db);
}

async function summarize(db: ChaosDatabase, violations: readonly Violation[]): Promise<FaultSummary[]> {
  const { rows } = await sql<{ name: string; times: string; jobs: string; longest: number | null; windows: [number, number][] }>`
    select f.name, count(*) as times, sum(touched.jobs) as jobs, max(touched.longest)::float8 as longest,
           jsonb_agg(jsonb_build_array(extract(epoch from f.began_at), extract(epoch from f.ended_at))) as windows
      from chaos.faults f
     cross join lateral (
       select (select count(distinct r.job_id) from chaos.runs r
                where r.started_at between f.began_at - interval '10 s' and f.ended_at
                  and coalesce(r.ended_at, r.started_at + ${times.leaseMs} * interval '1 ms') >= f.began_at) as jobs,
              (select max(ms) from chaos.recoveries c where c.fault = f.id) as longest) touched
     group by f.name order by f.name`.execute(db);
  return rows.map(({ name, times: count, jobs, longest, windows }) => {
    const harmed = (harm: Harm) =>
      violations
        .filter((violation) => violation.harm === harm)
        .flatMap(({ findings }) => findings)
        .filter(({ at }) => at !== null && windows.some(([from, to]) => at.getTime() / 1_000 >= from && at.getTime() / 1_000 <= to + 15))
        .length;
    const counts = { lost: harmed("lost"), doubled: harmed("doubled"), stuck: harmed("stuck") };
    return { name, times: Number(count), jobs: Number(jobs), ...counts, longestRecoveryMs: longest };
  });
}
