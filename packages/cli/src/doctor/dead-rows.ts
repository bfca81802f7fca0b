import type { Check } from "./check.js";

/** Rows of `jobs` that vacuum has yet to remove. */
export const deadRows: Check = {
  name: "dead rows",
  needsTables: true,
  async run({ read, quotedSchema, thresholds }) {
    const [row] = await read<{ dead: string; vacuumed: string | null; autovacuum: string }>(
      `select n_dead_tup::text as dead, greatest(last_vacuum, last_autovacuum)::text as vacuumed, pg_catalog.current_setting('autovacuum') as autovacuum
         from pg_catalog.pg_stat_all_tables where relid = $1::text::pg_catalog.regclass`,
      [`${quotedSchema}.jobs`],
    );
    if (row === undefined || Number(row.dead) < thresholds.deadRows) return [];
    return [
      {
        message: `${row.dead} ended rows of jobs wait to be removed; it was vacuumed ${row.vacuumed === null ? "never" : `last at ${row.vacuumed}`}.`,
        advice:
          row.autovacuum === "off"
            ? `autovacuum is off: turn it on, and run vacuum ${quotedSchema}.jobs.`
            : `When nothing holds a snapshot, autovacuum does not keep up: vacuum ${quotedSchema}.jobs, and give it a number instead of a share: alter table ${quotedSchema}.jobs set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 50000).`,
      },
    ];
  },
};
