with "wanted" as materialized (select "u"."id", "u"."fence", (select 1 as "one"
from "queue"."jobs" as "j"
where j.id = u.id and j.status::text = 'running' and j.claims = u.fence and j.worker = $1::text
limit 1) is not null as "held"
from unnest($2::text::int8[], $3::text::int4[]) as u(id, fence)), "mine" as materialized (select "x"."id"
from "wanted" as "u"
inner join lateral (select "j"."id"
from "queue"."jobs" as "j"
where j.id = u.id and j.status::text = 'running' and j.claims = u.fence and j.worker = $4::text
limit 1
for no key
update skip locked) as "x" on true), "extended" as (update "queue"."jobs" as "j"
set "locked_until" = pg_catalog.clock_timestamp() + ($5::text::float8 * interval '1 millisecond')
where j.id = any(array(select id
from mine))
returning "j"."id")
select w.id::text as "id", e.id is not null as "extended", w.held as "held"
from "wanted" as "w"
left join "extended" as "e" on "e"."id" = "w"."id"
