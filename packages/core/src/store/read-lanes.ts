import { type RawBuilder, sql } from "kysely";
import { queryBuilder } from "./query-builder.js";
import { queuedLines } from "./queued-lines.js";
import { defineStatement, placeholders, type Statement } from "./statement.js";

export interface ReadLanesInput {
  /** Counting stops here: at ten million jobs exact counts take seconds, capped ones milliseconds. */
  readonly cap: number;
}

export interface LaneRow {
  readonly lane: string;
  readonly ready: string;
  readonly scheduled: string;
  readonly waiting: string;
  readonly running: string;
  readonly expired: string;
  readonly dead: string;
  readonly oldest_ready_ms: string | null;
  readonly paused: boolean;
}

/** What waits, runs and died in every lane, from the partial indexes alone. Reads only; never looks at what ended. */
export function readLanes(schema: string): Statement<ReadLanesInput, LaneRow> {
  const p = placeholders<ReadLanesInput>();
  const jobs = sql`${sql.id(schema, "jobs")}`;
  const inLine = sql`j.status = 'queued' and j.lane = l.lane and j.priority = l.priority`;
  const counted = sql<{
    lane: string;
    ready: string;
    scheduled: string;
    waiting: string;
    running: string;
    expired: string;
    dead: string;
    oldest: Date | null;
  }>`
    select l.lane,
           (select pg_catalog.count(*) from (select from ${jobs} j where ${inLine} and j.run_at <= pg_catalog.now() limit ${p.int("cap")}) r) as ready,
           (select pg_catalog.count(*) from (select from ${jobs} j where ${inLine} and j.run_at > pg_catalog.now() limit ${p.int("cap")}) s) as scheduled,
           0 as waiting, 0 as running, 0 as expired, 0 as dead,
           (select j.run_at from ${jobs} j where ${inLine} and j.run_at <= pg_catalog.now() order by j.run_at limit 1) as oldest
      from line l
    union all
    select j.lane, 0, 0, 0, pg_catalog.count(*), pg_catalog.count(*) filter (where j.locked_until < pg_catalog.clock_timestamp()), 0, null
      from ${jobs} j where j.status = 'running' group by j.lane
    union all
    select w.lane, 0, 0, pg_catalog.count(*), 0, 0, 0, null
      from (select j.lane from ${jobs} j where j.status = 'waiting' limit ${p.int("cap")}) w group by w.lane
    union all
    select d.lane, 0, 0, 0, 0, 0,
           (select pg_catalog.count(*) from (select from ${jobs} j where j.status = 'dead' and j.lane = d.lane limit ${p.int("cap")}) c), null
      from (${deadLanes(jobs)}) d
    union all
    select lane, 0, 0, 0, 0, 0, 0, null from ${sql.id(schema, "lanes")}`;
  const total = (column: string) => sql<string>`pg_catalog.sum(${sql.ref(column)})::text`;
  return defineStatement(
    queryBuilder(schema)
      .withRecursive("line", () => queuedLines(schema))
      .selectFrom(sql<{ lane: string }>`(${counted})`.as("c"))
      .leftJoin("lanes as p", (join) => join.on(sql<boolean>`p.lane = c.lane and p.paused_at is not null`))
      .select("c.lane")
      .select([
        total("ready").as("ready"),
        total("scheduled").as("scheduled"),
        total("waiting").as("waiting"),
        total("running").as("running"),
        total("expired").as("expired"),
        total("dead").as("dead"),
      ])
      .select([
        sql<string | null>`(extract(epoch from pg_catalog.now() - pg_catalog.min(c.oldest)) * 1000)::text`.as("oldest_ready_ms"),
        sql<boolean>`pg_catalog.count(p.lane) > 0`.as("paused"),
      ])
      .groupBy("c.lane")
      .orderBy("c.lane"),
  );
}

/** Every lane that has dead letters, one step through their index for each: one that is full must not hide the others. */
function deadLanes(jobs: RawBuilder<unknown>): RawBuilder<unknown> {
  const first = sql`select j.lane from ${jobs} j where j.status = 'dead'`;
  return sql`with recursive dead_lane as (
    (${first} order by j.lane limit 1)
    union all
    select n.lane from dead_lane l cross join lateral (${first} and j.lane > l.lane order by j.lane limit 1) n
  ) select lane from dead_lane`;
}
