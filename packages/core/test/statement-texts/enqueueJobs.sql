with "input" as materialized (select pg_catalog.nextval('"queue".jobs_id_seq'::regclass) as "id", "i"."kind", "i"."payload", "i"."lane", "i"."priority", "i"."max_attempts", "i"."position", greatest(pg_catalog.clock_timestamp(), coalesce(i.run_at, pg_catalog.clock_timestamp() + i.delay_ms * interval '1 millisecond')) as "run_at"
from pg_catalog.jsonb_to_recordset($1::text::jsonb) as "i"("position" int4, "kind" text, "payload" jsonb, "lane" text, "priority" int2, "max_attempts" int4, "delay_ms" float8, "run_at" timestamptz)
order by "i"."position"), "added" as (insert into "queue"."jobs" ("id", "kind", "payload", "lane", "priority", "max_attempts", "run_at")
select "id", "kind", coalesce(payload, 'null'::jsonb) as "payload", "lane", "priority", "max_attempts", "run_at"
from "input"
order by "position")
select id::text as "id"
from "input"
order by "position"
