import { showSpan } from "../output/instant.js";
import type { Check, Finding } from "./check.js";

interface Holder {
  readonly holder: "session" | "prepared transaction" | "replication slot";
  readonly name: string;
  readonly about: string;
  readonly state: string;
  /** Null where nothing tells since when. */
  readonly age_ms: number | null;
}

const statement = `
  select 'session' as holder, pid::text as name, pg_catalog.concat_ws(', ', nullif(application_name, ''), usename) as about, coalesce(state, '') as state,
         (extract(epoch from pg_catalog.clock_timestamp() - xact_start) * 1000)::float8 as age_ms, pg_catalog.age(backend_xmin) as transactions
    from pg_catalog.pg_stat_activity
   where (backend_xmin is not null or backend_xid is not null) and xact_start is not null
     and datname = pg_catalog.current_database() and pid <> pg_catalog.pg_backend_pid()
  union all
  select 'prepared transaction', gid, owner::text, '', (extract(epoch from pg_catalog.clock_timestamp() - prepared) * 1000)::float8, pg_catalog.age(transaction)
    from pg_catalog.pg_prepared_xacts where database = pg_catalog.current_database()
  union all
  select 'replication slot', slot_name::text, slot_type, case when active then 'active' else 'inactive' end, null, pg_catalog.age(coalesce(xmin, catalog_xmin))
    from pg_catalog.pg_replication_slots
   where xmin is not null and not active and (database is null or database = pg_catalog.current_database())
  order by transactions desc nulls last`;

/** Old transactions, and what else keeps ended rows from being removed. Who holds it, and how to end that. */
export const heldSnapshot: Check = {
  name: "held snapshots",
  needsTables: false,
  async run({ read, thresholds }) {
    const holders = await read<Holder>(statement);
    return holders.filter(({ age_ms }) => age_ms === null || age_ms >= thresholds.heldForMs).map(toFinding);
  },
};

function toFinding({ holder, name, about, state, age_ms }: Holder): Finding {
  const since = age_ms === null ? "" : ` for ${showSpan(age_ms)}`;
  const detail = [about, state].filter((part) => part !== "").join(", ");
  return {
    message: `The ${holder} ${name} (${detail}) keeps ended rows from being removed${since}.`,
    advice: `End it: ${endBy(holder, name)}. Prevent it: idle_in_transaction_session_timeout, and transaction_timeout from PostgreSQL 17 on.`,
  };
}

function endBy(holder: Holder["holder"], name: string): string {
  const quoted = `'${name.replaceAll("'", "''")}'`;
  if (holder === "session") return `select pg_terminate_backend(${name})`;
  return holder === "prepared transaction" ? `rollback prepared ${quoted}` : `select pg_drop_replication_slot(${quoted})`;
}
