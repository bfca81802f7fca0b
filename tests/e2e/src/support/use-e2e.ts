import { Kysely, PostgresDialect } from "kysely";
import type pg from "pg";
import { beforeAll, beforeEach } from "vitest";
import { useTestDatabase } from "@queue/test-database";
import type { E2eTables } from "../processes/open-database.js";
import type { WorkSettings } from "../processes/work.js";
import { type Child, startChild } from "./child-process.js";

export interface E2e {
  readonly url: string;
  readonly db: Kysely<E2eTables>;
  sql<TRow extends pg.QueryResultRow>(text: string, values?: readonly unknown[]): Promise<TRow[]>;
  /** A worker in a process of its own. */
  work(settings?: Omit<WorkSettings, "url">): Child;
  /** The same, once it has started. */
  startWork(settings?: Omit<WorkSettings, "url">): Promise<Child>;
  job(id: string): Promise<{ readonly status: string; readonly attempts: number; readonly last_error: string | null }>;
  /** Resolves when the query finds a row. */
  sqlUntil(text: string, ms?: number): Promise<void>;
}

/** Leases that a test can wait for. */
export const shortLease = { lease: 1_000, heartbeat: 300, sweepInterval: 300, pollInterval: 300 } as const;

/** A database for the test file, with the tables of the application in these tests; empty before each of them. */
export function useE2e(): E2e {
  const database = useTestDatabase();
  let db: Kysely<E2eTables> | undefined;

  beforeAll(async () => {
    db = new Kysely<E2eTables>({ dialect: new PostgresDialect({ pool: database.pool }) });
    await database.pool.query("create table orders (entry text primary key)");
    await database.pool.query("create table ledger (entry text not null, job text not null, attempt int not null, pid int not null)");
  });
  beforeEach(async () => {
    await database.pool.query("truncate queue.jobs, queue.jobs_archive, queue.job_keys, queue.workers, orders, ledger");
  });

  const e2e: E2e = {
    get url() {
      return database.url;
    },
    get db() {
      if (db === undefined) throw new Error("The database is there from beforeAll on.");
      return db;
    },
    sql: async <TRow extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []) =>
      (await database.pool.query<TRow>(text, [...values])).rows,
    work: (settings = {}) => startChild("work", { E2E_WORK: JSON.stringify({ url: database.url, ...settings } satisfies WorkSettings) }),
    async startWork(settings) {
      const child = e2e.work(settings);
      await child.until("worker.started");
      return child;
    },
    async job(id) {
      const [row] = await e2e.sql<{ status: string; attempts: number; last_error: string | null }>(
        "select status, attempts, last_error from queue.all_jobs where id = $1",
        [id],
      );
      if (row === undefined) throw new Error(`There is no job ${id}.`);
      return row;
    },
    async sqlUntil(text, ms = 20_000) {
      const deadline = performance.now() + ms;
      while ((await e2e.sql(text)).length === 0) {
        if (performance.now() > deadline) throw new Error(`Not within ${ms} ms: ${text}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
  };
  return e2e;
}
