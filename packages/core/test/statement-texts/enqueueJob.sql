insert into "queue"."jobs" ("kind", "payload", "lane", "priority", "max_attempts", "run_at") values ($1::text, $2::text::jsonb, $3::text, $4::int::int2, $5::int, greatest(pg_catalog.clock_timestamp(), coalesce($6::text::timestamptz, pg_catalog.clock_timestamp() + ($7::text::float8 * interval '1 millisecond'))))
returning id::text as "id"
