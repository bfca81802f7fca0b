import type { Check, DoctorContext, Finding } from "./check.js";

interface Partition {
  readonly name: string;
  /** The day that it is for, `20261129`; null: the default partition. */
  readonly day: string | null;
}

/** Partitions of the archive that are missing, that could be dropped and are not, and rows that found none. */
export const partitions: Check = {
  name: "archive partitions",
  needsTables: true,
  async run(context) {
    const found = await context.read<Partition>(
      `select c.relname as name, pg_catalog.substring(c.relname::text, '^jobs_archive_([0-9]{8})$') as day
         from pg_catalog.pg_inherits i join pg_catalog.pg_class c on c.oid = i.inhrelid
        where i.inhparent = $1::text::pg_catalog.regclass order by 1`,
      [`${context.quotedSchema}.jobs_archive`],
    );
    const [days] = await context.read<{ today: string; tomorrow: string }>(
      `select pg_catalog.to_char(pg_catalog.timezone('UTC', pg_catalog.now()), 'YYYYMMDD') as today,
              pg_catalog.to_char(pg_catalog.timezone('UTC', pg_catalog.now()) + interval '1 day', 'YYYYMMDD') as tomorrow`,
    );
    const { today = "", tomorrow = "" } = days ?? {};
    const missing = [today, tomorrow].filter((day) => !found.some((partition) => partition.day === day));
    return [...missing.map((day) => missingOn(context, day)), ...(await findStuck(context, found, today)), ...(await findStrays(context))];
  },
};

function missingOn({ quotedSchema }: DoctorContext, day: string): Finding {
  return {
    message: `The archive has no partition for ${day}: what ends then goes to jobs_archive_default.`,
    advice: `Workers make them once an hour when they may: grant execute on function ${quotedSchema}.maintain_archive(); or run it: select ${quotedSchema}.maintain_archive().`,
  };
}

/** A day is over, nothing of it has to be kept, and it is still there a day later. */
async function findStuck({ read, quotedSchema }: DoctorContext, found: readonly Partition[], today: string): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { name, day } of found) {
    if (day === null || day >= today) continue;
    const table = `${quotedSchema}.${name}`;
    const [kept] = await read<{ is_kept: boolean }>(
      `select exists (select from ${table} where keep_until > pg_catalog.now() - interval '1 day') as is_kept`,
    );
    if (kept?.is_kept !== false) continue;
    findings.push({
      message: `Nothing in ${name} has to be kept any longer, and it is still there.`,
      advice: `A query that reads the archive may keep it from being dropped, or no worker may do it: select ${quotedSchema}.maintain_archive(); or drop table ${table}.`,
    });
  }
  return findings;
}

async function findStrays({ read, quotedSchema }: DoctorContext): Promise<Finding[]> {
  const [strays] = await read<{ count: string }>(
    `select pg_catalog.count(*)::text as count from (select from ${quotedSchema}.jobs_archive_default limit 10000) s`,
  );
  const count = Number(strays?.count ?? 0);
  if (count === 0) return [];
  return [
    {
      message: `${count === 10_000 ? "10000 rows or more are" : count === 1 ? "1 row is" : `${count} rows are`} in jobs_archive_default, because their day had no partition.`,
      advice: `They are deleted in batches when they expire, which makes work for vacuum; see that partitions are made: select ${quotedSchema}.maintain_archive().`,
    },
  ];
}
