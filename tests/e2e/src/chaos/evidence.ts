import { type RawBuilder, sql } from "kysely";
import { applications, type ChaosDatabase } from "./chaos-queue.js";
import type { ProcessEnd } from "./processes.js";
import { monotonicMs, readRunLogs, type LoggedEffect, type LoggedRun } from "./run-log.js";

/** A fault that was injected, by the machine's monotonic clock. */
export interface InjectedFault {
  readonly name: string;
  /** The worker that it hit; undefined when it was not one of them alone. */
  readonly pid: number | undefined;
  /** While it lasted, no worker could act. */
  readonly stopsEverybody: boolean;
  readonly beganAtMs: number;
  readonly endedAtMs: number;
}

/**
 * What the oracle judges by, beside the tables of the queue and of the application:
 *
 * - `changes`: what happened to the row of each job, noted by a trigger, in the transaction of the change itself.
 * - `runs`, `carried_out`, `ends`, `faults`: what happened outside the database. It is kept in files and in memory during the
 *   run, because a handler also runs while there is no database, and is loaded when all processes have ended.
 * - `idle_sessions`: sessions that were seen idle in a transaction.
 */
export async function createEvidence(db: ChaosDatabase): Promise<void> {
  for (const statement of tables) await statement.execute(db);
}

/** Notes the sessions of ours that are idle in a transaction at this moment. */
export async function noteIdleSessions(db: ChaosDatabase): Promise<void> {
  await sql`
    insert into chaos.idle_sessions (at, session, application, query)
    select clock_timestamp(), pid, application_name, left(query, 200) from pg_stat_activity
     where datname = current_database() and state like 'idle in transaction%'
       and application_name in (${sql.join([applications.worker, applications.listener, applications.transaction])})`.execute(db);
}

export interface LoadedEvidence {
  readonly folder: string;
  readonly faults: readonly InjectedFault[];
  readonly ends: readonly ProcessEnd[];
}

/** Loads what happened outside of the database. */
export async function loadEvidence(db: ChaosDatabase, { folder, faults, ends }: LoadedEvidence): Promise<void> {
  const toSeconds = toWallClock();
  for (const { runs, effects } of readRunLogs(folder)) {
    for (const batch of batches(runs)) await insertRuns(db, batch, toSeconds);
    for (const batch of batches(effects)) await insertEffects(db, batch, toSeconds);
  }
  for (const { name, pid, stopsEverybody, beganAtMs, endedAtMs } of faults) {
    await sql`insert into chaos.faults (name, pid, stops_everybody, began_at, ended_at)
      values (${name}, ${pid ?? null}, ${stopsEverybody}, to_timestamp(${toSeconds(beganAtMs)}), to_timestamp(${toSeconds(endedAtMs)}))`.execute(
      db,
    );
  }
  for (const { pid, atMs, isKilled } of ends) {
    await sql`insert into chaos.ends (pid, at, is_killed) values (${pid}, to_timestamp(${toSeconds(atMs)}), ${isKilled})`.execute(db);
  }
  for (const statement of indexes) await statement.execute(db);
}

const tables: readonly RawBuilder<unknown>[] = [
  sql`create schema chaos`,
  sql`create table chaos.changes (
        at timestamptz not null default clock_timestamp(),
        leased_until timestamptz,
        job_id bigint not null,
        claims int not null,
        attempt int not null,
        pid int not null,
        is_claim boolean not null,
        is_given_back boolean not null default false,
        kind text not null,
        became text not null,
        reason text)`,
  // The name of a worker is its host, its process and something random.
  sql`create function chaos.note_change() returns trigger language plpgsql as $$
      begin
        if jsonb_array_length(new.errors) < jsonb_array_length(old.errors) and new.attempts = old.attempts - 1 then
          -- A worker says of an attempt that a sweep has spent that it never began.
          update chaos.changes set is_given_back = true
           where job_id = new.id and not is_claim
             and attempt = (select (e->>'attempt')::int from jsonb_array_elements(old.errors) e
                             where not new.errors @> jsonb_build_array(e) limit 1);
        elsif new.status = 'running' then
          insert into chaos.changes (leased_until, job_id, claims, attempt, pid, is_claim, kind, became)
          values (old.locked_until, new.id, new.claims, new.attempts, split_part(new.worker, ':', 2)::int, true, new.kind, 'running');
        elsif old.status = 'running' then
          insert into chaos.changes (leased_until, job_id, claims, attempt, pid, is_claim, is_given_back, kind, became, reason)
          values (old.locked_until, old.id, old.claims, old.attempts, split_part(old.worker, ':', 2)::int, false, new.attempts < old.attempts,
                  new.kind, new.status::text, case when new.errors = old.errors then 'Released' else new.errors->-1->>'name' end);
        end if;
        return null;
      end $$`,
  sql`create trigger note_change after update on queue.jobs for each row
        when (old.status is distinct from new.status or old.claims is distinct from new.claims or new.attempts < old.attempts) execute function chaos.note_change()`,
  sql`create index on chaos.changes using brin (at)`,
  sql`create index on chaos.changes (job_id) where not is_claim`,
  sql`create table chaos.runs (
        started_at timestamptz not null,
        ended_at timestamptz,
        job_id bigint not null,
        attempt int not null,
        pid int not null,
        is_ok boolean not null,
        token text not null)`,
  sql`create table chaos.carried_out (at timestamptz not null, job_id bigint not null, pid int not null)`,
  sql`create table chaos.faults (
        id int generated always as identity primary key,
        pid int,
        began_at timestamptz not null,
        ended_at timestamptz not null,
        stops_everybody boolean not null,
        name text not null)`,
  sql`create table chaos.ends (at timestamptz not null, pid int not null, is_killed boolean not null)`,
  sql`create table chaos.idle_sessions (at timestamptz not null, session int not null, application text not null, query text not null)`,
];

const indexes: readonly RawBuilder<unknown>[] = [
  sql`create index on chaos.changes (job_id)`,
  sql`create index on chaos.runs (job_id)`,
  sql`create index on chaos.runs (started_at)`,
  ...["changes", "runs", "carried_out", "faults", "ends"].map((table) => sql`analyze ${sql.table(`chaos.${table}`)}`),
];

/** From the monotonic clock to seconds since 1970, as the database on the same machine counts them. */
function toWallClock(): (ms: number) => number {
  const offsetMs = performance.timeOrigin + performance.now() - monotonicMs();
  return (ms) => (ms + offsetMs) / 1_000;
}

function* batches<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < items.length; at += 10_000) yield items.slice(at, at + 10_000);
}

async function insertRuns(db: ChaosDatabase, runs: readonly LoggedRun[], toSeconds: (ms: number) => number): Promise<void> {
  await sql`
    insert into chaos.runs (started_at, ended_at, job_id, attempt, pid, is_ok, token)
    select to_timestamp(started), to_timestamp(ended), job, attempt, pid, ok, token
      from unnest(${runs.map((run) => toSeconds(run.startedAtMs))}::float8[],
                  ${runs.map(({ endedAtMs }) => (endedAtMs === undefined ? null : toSeconds(endedAtMs)))}::float8[],
                  ${runs.map(({ jobId }) => jobId)}::bigint[], ${runs.map(({ attempt }) => attempt)}::int[],
                  ${runs.map(({ pid }) => pid)}::int[], ${runs.map(({ isOk }) => isOk)}::boolean[],
                  ${runs.map(({ token }) => token)}::text[]) as r(started, ended, job, attempt, pid, ok, token)`.execute(db);
}

async function insertEffects(db: ChaosDatabase, effects: readonly LoggedEffect[], toSeconds: (ms: number) => number): Promise<void> {
  await sql`
    insert into chaos.carried_out (at, job_id, pid)
    select to_timestamp(at), job, pid
      from unnest(${effects.map(({ atMs }) => toSeconds(atMs))}::float8[], ${effects.map(({ jobId }) => jobId)}::bigint[],
                  ${effects.map(({ pid }) => pid)}::int[]) as e(at, job, pid)`.execute(db);
}
