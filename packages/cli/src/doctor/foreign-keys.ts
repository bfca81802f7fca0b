import type { Check } from "./check.js";

/** Foreign keys to `jobs`: the row of a job that ends is deleted, so they keep jobs from ending. */
export const foreignKeys: Check = {
  name: "foreign keys to jobs",
  needsTables: true,
  async run({ read, quotedSchema }) {
    const rows = await read<{ of_table: string; name: string }>(
      `select conrelid::pg_catalog.regclass::text as of_table, pg_catalog.quote_ident(conname) as name
         from pg_catalog.pg_constraint where contype = 'f' and confrelid = $1::text::pg_catalog.regclass`,
      [`${quotedSchema}.jobs`],
    );
    return rows.map(({ of_table, name }) => ({
      message: `${of_table} has a foreign key to jobs, ${name}: jobs that it refers to can never end.`,
      advice: `Join by id instead: alter table ${of_table} drop constraint ${name};`,
    }));
  },
};
