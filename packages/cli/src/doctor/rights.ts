import type { Check, DoctorContext, Finding } from "./check.js";

/** What a role needs to enqueue, to work and to operate: docs/operations.md, "Rights". */
const tables: Readonly<Record<string, readonly string[]>> = {
  migrations: ["select"],
  all_jobs: ["select"],
  jobs: ["select", "insert", "update", "delete"],
  job_keys: ["select", "insert", "update", "delete"],
  lanes: ["select", "insert", "update", "delete"],
  workers: ["select", "insert", "update", "delete"],
  effects: ["select", "insert", "update", "delete"],
  jobs_archive: ["select", "insert"],
  jobs_archive_default: ["select", "update", "delete"],
};

/** Rights that the role lacks, each with the grant that gives it. */
export const rights: Check = {
  name: "rights",
  needsTables: false,
  async run(context) {
    const role = await findRole(context);
    if (role === undefined) return [{ message: `There is no role ${JSON.stringify(context.role)}.`, advice: "Name another by --role." }];
    const { quotedSchema, schema, read } = context;
    const [usage] = await read<{ found: boolean; allowed: boolean | null }>(
      `select n.oid is not null as found, pg_catalog.has_schema_privilege($2::text, n.oid, 'usage') as allowed
         from (select 1) one left join pg_catalog.pg_namespace n on n.nspname = $1::text`,
      [schema, role.name],
    );
    if (usage?.found !== true) return { skipped: "the schema is not there" };
    const findings = usage.allowed === true ? [] : [lacks(role, "usage", `schema ${quotedSchema}`)];
    for (const object of await readObjects(context, role.name)) {
      if (object.lacking.length > 0) findings.push(lacks(role, object.lacking.join(", "), object.grantedOn));
    }
    return findings;
  },
};

interface Role {
  readonly name: string;
  readonly quoted: string;
}

async function findRole({ read, role }: DoctorContext): Promise<Role | undefined> {
  const [found] = await read<Role>(
    `select rolname::text as name, pg_catalog.quote_ident(rolname) as quoted
       from pg_catalog.pg_roles where rolname = coalesce($1::text, current_user::text)`,
    [role],
  );
  return found;
}

interface ObjectRights {
  readonly grantedOn: string;
  readonly lacking: readonly string[];
}

/** By the catalogue and not by name: without the right to use the schema, a name is not even resolved. */
async function readObjects({ read, quotedSchema, schema }: DoctorContext, role: string): Promise<ObjectRights[]> {
  const wanted = Object.entries(tables).flatMap(([table, names]) => names.map((right) => ({ table, right })));
  const lackingTables = await read<{ table: string; right: string }>(
    `select w."table", w."right" from pg_catalog.jsonb_to_recordset($2::text::jsonb) as w("table" text, "right" text)
       join pg_catalog.pg_class c on c.relname = w."table" join pg_catalog.pg_namespace n on n.oid = c.relnamespace and n.nspname = $1::text
      where not pg_catalog.has_table_privilege($3::text, c.oid, w."right")`,
    [schema, JSON.stringify(wanted), role],
  );
  const others = await read<{ granted_on: string; right: string }>(
    `select 'sequence ' || $3::text || '.' || c.relname as granted_on, 'usage' as "right"
       from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace and n.nspname = $1::text
      where c.relname = 'jobs_id_seq' and not pg_catalog.has_sequence_privilege($2::text, c.oid, 'usage')
     union all
     select 'function ' || $3::text || '.maintain_archive()', 'execute'
       from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace and n.nspname = $1::text
      where p.proname = 'maintain_archive' and not pg_catalog.has_function_privilege($2::text, p.oid, 'execute')`,
    [schema, role, quotedSchema],
  );
  return [
    ...Object.keys(tables).map((table) => ({
      grantedOn: `${quotedSchema}.${table}`,
      lacking: lackingTables.filter((row) => row.table === table).map((row) => row.right),
    })),
    ...others.map(({ granted_on, right }) => ({ grantedOn: granted_on, lacking: [right] })),
  ];
}

function lacks(role: Role, what: string, on: string): Finding {
  return { message: `Role ${role.name} lacks ${what} on ${on}.`, advice: `As the owner: grant ${what} on ${on} to ${role.quoted};` };
}
