with "candidates" as materialized (select "x"."id"
from pg_catalog.jsonb_to_recordset($1::text::jsonb) as "g"("take" int4, "lines" jsonb)
cross join lateral (select "c"."id"
from pg_catalog.jsonb_to_recordset(g.lines) as "l"("lane" text, "priority" int2, "since" int8, "since_id" int8)
cross join lateral (select "j"."id"
from "queue"."jobs" as "j"
where "j"."status" = 'queued' and "j"."lane" = "l"."lane" and "j"."priority" = "l"."priority" and (j.run_at, j.id) >= (coalesce(timestamptz 'epoch' + l.since * interval '1 microsecond', '-infinity'), l.since_id) and "j"."run_at" <= pg_catalog.now() and coalesce(j.kind in (select pg_catalog.unnest($2::text::text[])), false)
order by "j"."run_at", "j"."id"
limit g.take
for no key
update skip locked) as "c"
where l.lane <> all(array(select "p"."lane"
from "queue"."lanes" as "p"
where "p"."paused_at" is not null))
limit g.take) as "x"
limit $3::int), "claimed" as (update "queue"."jobs" as "j"
set "status" = 'running', "locked_until" = pg_catalog.clock_timestamp() + ($4::text::float8 * interval '1 millisecond'), "started_at" = pg_catalog.clock_timestamp(), "attempts" = least(j.attempts, 999999999) + 1, "claims" = least(j.claims, 999999999) + 1, "worker" = $5::text
where j.id = any(array(select id
from candidates))
returning "j"."kind", "j"."lane", "j"."priority", "j"."attempts", "j"."max_attempts", "j"."claims", "j"."idempotency_key", j.id::text as "id", j.payload::text as "payload", (extract(epoch
from "j"."created_at") * 1000000)::int8::text as "created_at", (extract(epoch
from "j"."run_at") * 1000000)::int8::text as "run_at")
select *
from (
select null as "id", null as "kind", null as "lane", null as "priority", null as "payload", null as "attempts", null as "max_attempts", null as "claims", null as "idempotency_key", null as "created_at", null as "run_at", (extract(epoch
from pg_catalog.now()) * 1000000)::int8::text as now, (select pg_catalog.json_agg(p.lane)::text
from (select "p"."lane"
from "queue"."lanes" as "p"
where "p"."paused_at" is not null) p) as paused, null::text as completed
union all
select "id", "kind", "lane", "priority", "payload", "attempts", "max_attempts", "claims", "idempotency_key", "created_at", "run_at", null, null, null
from claimed) as "answer"
