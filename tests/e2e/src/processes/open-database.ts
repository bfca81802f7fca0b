import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";

export interface E2eTables {
  orders: { entry: string };
  ledger: { entry: string; job: string; attempt: number; pid: number };
}

export interface OpenDatabase {
  readonly db: Kysely<E2eTables>;
  /** What went wrong on connections that nobody used at that moment. */
  readonly lost: unknown[];
}

/** As an application opens it: a pool whose events have listeners. */
export function openDatabase(url: string, max = 10): OpenDatabase {
  const lost: unknown[] = [];
  const pool = new pg.Pool({ connectionString: url, max, application_name: "e2e" });
  pool.on("error", (error) => lost.push(error));
  pool.on("connect", (client) => client.on("error", () => {}));
  return { db: new Kysely<E2eTables>({ dialect: new PostgresDialect({ pool }) }), lost };
}
