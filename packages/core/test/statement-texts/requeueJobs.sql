with "input" as materialized (select "doc"
from (select $1::text::jsonb as doc) as "given"), "mine" as materialized (select "x"."id"
from (
select e.key::int8 as id, (e.value->>'fence')::int4 as fence
from input, pg_catalog.jsonb_each(input.doc) as e
order by 1) as "u"
inner join lateral (select "j"."id"
from "queue"."jobs" as "j"
where j.id = u.id and j.status::text = 'running' and j.claims = u.fence and j.worker = $2::text
limit 1
for
update skip locked) as "x" on true)
update "queue"."jobs" as "j"
set "status" = (case when ((select doc
from input) -> j.id::text)->>'status' <> 'exhausted' then ((select doc
from input) -> j.id::text)->>'status' when j.attempts >= j.max_attempts then 'dead' else 'queued' end)::"queue"."job_status", "run_at" = coalesce(pg_catalog.clock_timestamp() + (((select doc
from input) -> j.id::text)->>'delayMs')::float8 * interval '1 millisecond', greatest(j.run_at, pg_catalog.clock_timestamp() - interval '240 seconds')), "attempts" = j.attempts - (((select doc
from input) -> j.id::text)->>'attemptsBack')::int4, "locked_until" = null, "last_error" = coalesce(((select doc
from input) -> j.id::text)->'error'->>'message', j.last_error), "errors" = case when pg_catalog.jsonb_exists(((select doc
from input) -> j.id::text), 'error') then case when pg_catalog.jsonb_array_length(j.errors) >= 20 then j.errors - 0 else j.errors end || pg_catalog.jsonb_build_array(pg_catalog.jsonb_build_object( 'attempt', j.attempts, 'at', pg_catalog.to_jsonb(pg_catalog.clock_timestamp()), 'worker', j.worker) || (((select doc
from input) -> j.id::text)->'error')) else j.errors end
where j.id = any(array(select id
from mine))
returning j.id::text as "id"
