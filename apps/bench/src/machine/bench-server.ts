import { createDatabase, dropDatabase, startEmbeddedServer } from "@queue/test-database";
import pg from "pg";

/**
 * Durable, as a user has it; memory as a server of two cores would get; and no checkpoint that falls due by itself in the middle
 * of one side's turn, because it would have the next change of every page logged in full.
 */
export const serverSettings = {
  fsync: "on",
  full_page_writes: "on",
  synchronous_commit: "on",
  shared_buffers: "1GB",
  max_wal_size: "16GB",
  checkpoint_timeout: "1h",
  timezone: "UTC",
} as const;

/** The PostgreSQL of the run. */
export interface BenchServer {
  readonly url: string;
  readonly version: string;
  /** An empty database for one side, with everything from before written out. */
  createDatabase(label: string): Promise<BenchDatabase>;
  /** Where the write-ahead log is. */
  logPosition(): Promise<string>;
  /** Bytes of write-ahead log between two positions, and how many of them are pages that were logged in full. */
  logBetween(from: string, to: string): Promise<{ readonly bytes: number; readonly fullPageBytes: number }>;
  checkpoint(): Promise<void>;
  /** Of any process of this server. */
  processId(): Promise<number>;
  stop(): Promise<void>;
}

export interface BenchDatabase {
  readonly url: string;
  /** A transaction at repeatable read that has its snapshot, until it is let go. */
  holdSnapshot(): Promise<{ letGo(): Promise<void> }>;
  /** All its tables, the catalogue's as well: what autovacuum would do some time later. */
  vacuum(): Promise<void>;
  drop(): Promise<void>;
}

export async function startBenchServer(): Promise<BenchServer> {
  const server = await startEmbeddedServer({ settings: serverSettings });
  const admin = new pg.Client({ connectionString: server.url, application_name: "bench" });
  await admin.connect();
  const version = await admin.query<{ server_version: string }>("show server_version");
  return {
    url: server.url,
    version: version.rows[0]?.server_version ?? "unknown",
    async createDatabase(label) {
      const { name, url } = await createDatabase(server, { label });
      await admin.query("checkpoint");
      return { url, holdSnapshot: () => holdSnapshot(url), vacuum: () => vacuum(url), drop: () => dropDatabase(server, name) };
    },
    async logPosition() {
      const { rows } = await admin.query<{ position: string }>("select pg_current_wal_insert_lsn()::text as position");
      return rows[0]?.position ?? "0/0";
    },
    async logBetween(from, to) {
      await admin.query("create extension if not exists pg_walinspect");
      const { rows } = await admin.query<{ bytes: string; full_pages: string }>(
        `select ($2::pg_lsn - $1::pg_lsn)::text as bytes, sum(fpi_size)::text as full_pages from pg_get_wal_stats($1::pg_lsn, $2::pg_lsn)`,
        [from, to],
      );
      return { bytes: Number(rows[0]?.bytes), fullPageBytes: Number(rows[0]?.full_pages) };
    },
    async checkpoint() {
      await admin.query("checkpoint");
    },
    async processId() {
      const { rows } = await admin.query<{ pid: number }>("select pg_backend_pid() as pid");
      return Number(rows[0]?.pid);
    },
    async stop() {
      await admin.end();
      await server.stop();
    },
  };
}

async function vacuum(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: "bench vacuum" });
  await client.connect();
  await client.query("vacuum");
  await client.end();
}

async function holdSnapshot(url: string): Promise<{ letGo(): Promise<void> }> {
  const holder = new pg.Client({ connectionString: url, application_name: "bench snapshot" });
  await holder.connect();
  await holder.query("begin isolation level repeatable read");
  await holder.query("select pg_current_xact_id()");
  return {
    async letGo() {
      await holder.query("rollback");
      await holder.end();
    },
  };
}
