with "mine" as materialized (select "x"."id", u.keep as "keep"
from unnest($1::text::int8[], $2::text::int4[], $3::text::int8[]) as u(id, fence, keep)
inner join lateral (select "j"."id"
from "queue"."jobs" as "j"
where j.id = u.id and j.status::text = 'running' and j.claims = u.fence and j.worker = $4::text
limit 1
for
update skip locked) as "x" on true), "gone" as (delete
from "queue"."jobs" as "j"
where j.id = any(array(select id
from mine))
returning *), "kept" as (insert into "queue"."jobs_archive" ("id", "run_at", "created_at", "started_at", "claims", "attempts", "max_attempts", "redrives", "priority", "lane", "kind", "idempotency_key", "worker", "last_error", "errors", "status", "finished_at", "keep_until", "payload")
select g."id" as "id", g."run_at" as "run_at", g."created_at" as "created_at", g."started_at" as "started_at", g."claims" as "claims", g."attempts" as "attempts", g."max_attempts" as "max_attempts", g."redrives" as "redrives", g."priority" as "priority", g."lane" as "lane", g."kind" as "kind", g."idempotency_key" as "idempotency_key", g."worker" as "worker", g."last_error" as "last_error", g."errors" as "errors", 'done' as "status", pg_catalog.clock_timestamp() as "finished_at", pg_catalog.clock_timestamp() + m.keep * interval '1 millisecond' as "keep_until", case when pg_catalog.pg_column_size(g.payload) <= 2000 then g.payload end as "payload"
from gone as "g"
inner join mine as "m" on "m"."id" = "g"."id"
where m.keep >= 0)
select id::text as "id"
from "gone"
