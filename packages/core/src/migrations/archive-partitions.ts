import { quoteBody, quoteLiteral } from "./quote.js";

/**
 * A statement for plpgsql: statistics of the partition of this name are made of 3,000 rows instead of 30,000. Autovacuum makes them anew
 * whenever the partition has grown by a tenth, nine times in the first ten minutes at 1,000 jobs/s, and with the standard each took 730 ms of
 * a core, in the same second as the vacuum of everything else.
 */
export function sampleLess(s: string, partition: string): string {
  const schemaText = quoteLiteral(s);
  return `execute (
        select pg_catalog.format('alter table %s.%I ', ${schemaText}, ${partition})
            || pg_catalog.string_agg(pg_catalog.format('alter %I set statistics 10', a.attname), ', ')
          from pg_catalog.pg_attribute a
         where a.attrelid = pg_catalog.to_regclass(${schemaText} || '.jobs_archive') and a.attnum > 0 and not a.attisdropped)`;
}

/**
 * Keeps a partition for each of the next seven days, and drops those in which no row has to be kept any longer. It belongs to
 * the owner of the schema and runs with the owner's rights, so that workers need none of their own to create or drop tables.
 * A table is made apart and attached, which takes milliseconds; every lock is waited for 200 ms at most, because a settle
 * that wants the archive would wait behind it. Where it never runs, jobs_archive_default takes the rows.
 */
export function maintainArchive(s: string): string {
  const schemaText = quoteLiteral(s);
  return `create function ${s}.maintain_archive() returns integer language plpgsql security definer
  set search_path = '' set lock_timeout = '200ms' set enable_seqscan = off set jit = off
  set timezone = 'UTC' as ${quoteBody(`
declare
  day date;
  partition text;
  is_kept boolean;
  changes integer := 0;
begin
  if not pg_catalog.pg_try_advisory_xact_lock(pg_catalog.hashtextextended(${schemaText} || '.maintain_archive', 0)) then
    return 0;
  end if;
  for offset_days in 0 .. 7 loop
    day := (pg_catalog.now() at time zone 'UTC')::date + offset_days;
    partition := 'jobs_archive_' || pg_catalog.to_char(day, 'YYYYMMDD');
    if pg_catalog.to_regclass(${schemaText} || '.' || partition) is null
       and not exists (select from ${s}.jobs_archive_default where finished_at >= day and finished_at < day + 1) then
      execute pg_catalog.format('create table %s.%I (like %s.jobs_archive including defaults)', ${schemaText}, partition, ${schemaText});
      ${sampleLess(s, "partition")};
      execute pg_catalog.format('alter table %s.jobs_archive attach partition %s.%I for values from (%L) to (%L)',
        ${schemaText}, ${schemaText}, partition, day, day + 1);
      changes := changes + 1;
    end if;
  end loop;
  for partition in
    select c.relname from pg_catalog.pg_inherits i join pg_catalog.pg_class c on c.oid = i.inhrelid
     where i.inhparent = pg_catalog.to_regclass(${schemaText} || '.jobs_archive')
       and c.relname ~ '^jobs_archive_[0-9]{8}$'
       and pg_catalog.to_date(pg_catalog.right(c.relname, 8), 'YYYYMMDD') < (pg_catalog.now() at time zone 'UTC')::date
     order by c.relname
  loop
    execute pg_catalog.format('select exists (select from %s.%I where keep_until > pg_catalog.now())', ${schemaText}, partition) into is_kept;
    if not is_kept then
      execute pg_catalog.format('drop table %s.%I', ${schemaText}, partition);
      changes := changes + 1;
    end if;
  end loop;
  return changes;
end
`)}`;
}
