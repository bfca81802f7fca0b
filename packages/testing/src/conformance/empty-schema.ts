import type { Executor } from "@queue/core";

/**
 * Empties a queue's schema, and starts its ids again. Deletes rather than truncates: a new file for every table and index takes
 * as long as the migration does.
 */
export async function emptySchema(schema: string, { execute }: Pick<Executor, "execute">): Promise<void> {
  const literal = `'${schema.replaceAll("'", "''")}'`;
  await execute({
    sql: `do $$
      declare
        found record;
      begin
        for found in
          select class.oid, class.relname, class.relkind
            from pg_catalog.pg_class as class
            join pg_catalog.pg_namespace as namespace on namespace.oid = class.relnamespace
           where namespace.nspname = ${literal}
             and class.relkind in ('r', 'p', 'S')
             and not class.relispartition
             and class.relname <> 'migrations'
        loop
          if found.relkind = 'S' then
            perform pg_catalog.setval(found.oid::pg_catalog.regclass, 1, false);
          else
            execute pg_catalog.format('delete from %I.%I', ${literal}, found.relname);
          end if;
        end loop;
      end $$`,
    parameters: [],
  });
}
