import type { Executor } from "@queue/core";

/** What the server's catalogue says of each object of a schema: `index jobs.jobs_claim` → its definition. */
export type Catalogue = ReadonlyMap<string, string>;

/** Relations that belong to the queue whatever the day is; partitions come and go. */
const isNoPartition = "c.relname !~ '^jobs_archive_[0-9]{8}($|_)'";

const statement = `
  with n as (select oid from pg_catalog.pg_namespace where nspname = $1::text),
       r as (select c.* from pg_catalog.pg_class c join n on n.oid = c.relnamespace where c.relkind in ('r', 'p', 'v') and ${isNoPartition})
  select case relkind when 'v' then 'view ' else 'table ' end || relname as object,
         case relkind when 'v' then pg_catalog.pg_get_viewdef(oid) else relkind::text end as definition from r
  union all
  select 'column ' || r.relname || '.' || a.attname,
         pg_catalog.concat_ws(' ', pg_catalog.format_type(a.atttypid, a.atttypmod), case when a.attnotnull then 'not null' end,
           nullif(a.attidentity::text, ''), a.attcollation::pg_catalog.regcollation::text, pg_catalog.pg_get_expr(d.adbin, d.adrelid),
           'statistics ' || coalesce(a.attstattarget, -1))
    from r join pg_catalog.pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
    left join pg_catalog.pg_attrdef d on d.adrelid = r.oid and d.adnum = a.attnum
  union all
  select 'constraint ' || r.relname || '.' || c.conname, pg_catalog.pg_get_constraintdef(c.oid)
    from r join pg_catalog.pg_constraint c on c.conrelid = r.oid where c.contype <> 'n'
  union all
  select 'index ' || r.relname || '.' || x.relname, pg_catalog.pg_get_indexdef(i.indexrelid) || case when i.indisvalid then '' else ' invalid' end
    from r join pg_catalog.pg_index i on i.indrelid = r.oid join pg_catalog.pg_class x on x.oid = i.indexrelid
  union all
  select 'trigger ' || r.relname || '.' || t.tgname, pg_catalog.pg_get_triggerdef(t.oid) || case t.tgenabled when 'O' then '' else ' enabled: ' || t.tgenabled::text end
    from r join pg_catalog.pg_trigger t on t.tgrelid = r.oid where not t.tgisinternal
  union all
  select 'function ' || p.proname, pg_catalog.pg_get_functiondef(p.oid)
    from pg_catalog.pg_proc p join n on n.oid = p.pronamespace where p.prokind in ('f', 'p')
  union all
  select 'type ' || t.typname, (select pg_catalog.string_agg(e.enumlabel, ', ' order by e.enumsortorder) from pg_catalog.pg_enum e where e.enumtypid = t.oid)
    from pg_catalog.pg_type t join n on n.oid = t.typnamespace where t.typtype = 'e'`;

/** Reads the catalogue. Every name in it is qualified, whatever the session's search_path. */
export async function readCatalogue(executor: Executor, schema: string): Promise<Catalogue> {
  await executor.execute({ sql: "select pg_catalog.set_config('search_path', '', true) as ok", parameters: [] });
  const { rows } = await executor.execute<{ object: string; definition: string }>({ sql: statement, parameters: [schema] });
  // Without quotes: whether the server quotes a name depends on the name, and two schemas are compared.
  const unquoted = (text: string) => text.replaceAll('"', "");
  return new Map(rows.map(({ object, definition }) => [unquoted(object), unquoted(definition)]));
}
