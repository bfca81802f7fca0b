import { basename } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, inject, type RunnerTestSuite } from "vitest";
import { createDatabase, type Database, dropDatabase } from "./database.js";
import { hasFailed } from "./has-failed.js";
import { needsSession } from "./needs-session.js";
import { throughPooler } from "./pooler.js";
import { TestPools } from "./test-pools.js";
import type { TestServerContext } from "./test-server-context.js";

/** The database of a test file; what it gives is there from `beforeAll` to `afterAll`. */
export interface TestDatabase {
  /** Its connection string. */
  readonly url: string;
  /** A pool on it, the same at each reading. */
  readonly pool: pg.Pool;
  /** Another pool on it, ended with the file like the first. */
  newPool(config?: pg.PoolConfig): pg.Pool;
}

export interface TestDatabaseOptions {
  /** `"migrated"`: with the tables of the queue in the schema `queue`. `"empty"`: with nothing. @default "migrated" */
  readonly template?: "migrated" | "empty" | undefined;
}

/**
 * Gives the test file (or the `describe` it is called in) a database of its own. It is dropped afterwards, but kept and named
 * when a test failed.
 *
 * @example
 * const database = useTestDatabase();
 * test("…", async () => { await database.pool.query("select …"); });
 */
export function useTestDatabase({ template = "migrated" }: TestDatabaseOptions = {}): TestDatabase {
  let open: OpenDatabase | undefined;

  beforeAll(async ({}, suite) => {
    const server = testServer();
    const database = await createDatabase(server, {
      label: basename(suite.file.name, ".test.ts"),
      ...(template === "migrated" ? { template: server.migratedTemplate } : {}),
    });
    open = { server, database, pools: new TestPools({ url: database.url, pooledUrl: pooledUrl(suite, server, database) }) };
  });

  afterAll(async ({}, suite) => {
    if (open === undefined) return;
    const closing = open;
    open = undefined;
    await closeDatabase(closing, hasFailed(suite));
  });

  const opened = () => {
    if (open === undefined) throw new Error("The test database is there from beforeAll to afterAll: read it inside a test or a hook.");
    return open;
  };
  return {
    get url() {
      return opened().database.url;
    },
    get pool() {
      return opened().pools.shared;
    },
    newPool: (config) => opened().pools.open(config),
  };
}

interface OpenDatabase {
  readonly server: TestServerContext;
  readonly database: Database;
  readonly pools: TestPools;
}

/** The way of the file's pools, when it is not the direct one. */
function pooledUrl({ file }: Readonly<RunnerTestSuite>, { pooler }: TestServerContext, { url }: Database): string | undefined {
  return pooler === undefined || needsSession(file.name) ? undefined : throughPooler(url, pooler);
}

async function closeDatabase({ server, database, pools }: OpenDatabase, isKept: boolean): Promise<void> {
  const leaked = await pools.end();
  if (isKept) {
    console.log(`The database of the failed test is kept for as long as its server runs: ${database.url}`);
    return;
  }
  await dropDatabase(server, database.name);
  if (leaked > 0) throw new Error(`${leaked} connections of the test's pools were taken and never released: release() each in a finally.`);
}

function testServer(): TestServerContext {
  // Typed as always there, which only the global setup can promise.
  const server = inject("testServer") as TestServerContext | undefined;
  if (server === undefined) throw new Error("No test server: run vitest at the root of the repository, whose global setup starts one.");
  return server;
}
