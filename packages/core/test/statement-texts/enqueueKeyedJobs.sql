with "input" as materialized (select "i"."payload", "i"."lane", "i"."priority", "i"."max_attempts", "i"."position", "i"."hold_ms", "i"."release_on", i.kind collate "C" as "kind", i.key collate "C" as "key", pg_catalog.nextval('"queue".jobs_id_seq'::regclass) as "id", greatest(pg_catalog.clock_timestamp(), coalesce(i.run_at, pg_catalog.clock_timestamp() + i.delay_ms * interval '1 millisecond')) as "run_at"
from pg_catalog.jsonb_to_recordset($1::text::jsonb) as "i"("position" int4, "kind" text, "payload" jsonb, "lane" text, "priority" int2, "max_attempts" int4, "delay_ms" float8, "run_at" timestamptz, "key" text, "hold_ms" float8, "release_on" text)
order by "i"."position"), "wanted" as materialized (select distinct on ("kind", "key") "id", "kind", "key", "hold_ms", "release_on"
from "input"
where "key" is not null
order by "kind", "key", "position"), "seen" as materialized (select "w"."id", "w"."kind", "w"."key", "w"."hold_ms", "w"."release_on", "h"."job_id", "h"."is_held"
from "wanted" as "w"
left join lateral (select "k"."job_id", case when k.expires_at <= pg_catalog.statement_timestamp() then false when k.release_on is null then true when k.release_on = 'started' then ((select 1 as "one"
from "queue"."jobs" as "j"
where j.id = k.job_id and j.claims = 0 and j.status::text <> 'dead'
for share)) is not null when exists (select 1 as "one"
from "queue"."jobs" as "j"
where j.id = k.job_id and j.status::text <> 'dead') then true else coalesce((select j.status::text <> 'dead' as "alive"
from "queue"."jobs" as "j"
where j.id = k.job_id
for share), false) end as "is_held"
from "queue"."job_keys" as "k"
where "k"."kind" = "w"."kind" and "k"."key" = "w"."key"
limit 1) as "h" on true), "taken" as (insert into "queue"."job_keys" ("kind", "key", "job_id", "replaces", "expires_at", "release_on")
select "s"."kind", "s"."key", "s"."id", "s"."job_id", coalesce(pg_catalog.statement_timestamp() + s.hold_ms * interval '1 millisecond', 'infinity') as "expires_at", s.release_on::"queue"."key_release" as "release_on"
from "seen" as "s"
where s.is_held is not true
order by "s"."kind", "s"."key"
on conflict ("kind", "key") do
update
set "job_id" = case when job_keys.job_id = excluded.replaces then excluded."job_id" else job_keys."job_id" end, "replaces" = case when job_keys.job_id = excluded.replaces then excluded."replaces" else job_keys."replaces" end, "expires_at" = case when job_keys.job_id = excluded.replaces then excluded."expires_at" else job_keys."expires_at" end, "release_on" = case when job_keys.job_id = excluded.replaces then excluded."release_on" else job_keys."release_on" end
returning "kind", "key", "job_id", "release_on"), "resolved" as (select "kind", "key", "job_id", false as "is_fresh"
from "seen"
where "is_held" is true
union all
select "t"."kind", "t"."key", "t"."job_id", own.id is null as "is_fresh"
from "taken" as "t"
left join "seen" as "own" on "own"."id" = "t"."job_id"), "decided" as materialized (select "i"."id", "i"."position", "r"."job_id", r.job_id is null or r.job_id = i.id as "inserted", coalesce(r.is_fresh, false) as "contested"
from "input" as "i"
left join "resolved" as "r" on "r"."kind" = "i"."kind" and "r"."key" = "i"."key"), "added" as (insert into "queue"."jobs" ("id", "kind", "payload", "lane", "priority", "max_attempts", "run_at", "idempotency_key", "key_release")
select "i"."id", "i"."kind", coalesce(payload, 'null'::jsonb) as "payload", "i"."lane", "i"."priority", "i"."max_attempts", "i"."run_at", "i"."key", i.release_on::"queue"."key_release" as "release_on"
from "input" as "i"
inner join "decided" as "d" on "d"."id" = "i"."id"
where "d"."inserted" is true
order by "i"."position")
select coalesce(d.job_id, d.id)::text as "id", "d"."inserted", "d"."contested"
from "decided" as "d"
order by "d"."position"
