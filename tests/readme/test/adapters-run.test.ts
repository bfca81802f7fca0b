import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { useTestDatabase } from "@queue/test-database";
import type { Worker } from "@queue/worker";
import { afterEach, describe, expect, it, vi } from "vitest";
import { openWebSocketProxy } from "../../../packages/neon/test/websocket-proxy.js";
import { firstSnippet } from "./first-snippet.js";

const cache = fileURLToPath(new URL("../../../node_modules/.cache/", import.meta.url));
const lastLine = /^await worker\.run\(\);.*$/m;

describe.each([
  ["postgres-js", "sql"],
  ["drizzle", "pool"],
  ["neon", "pool"],
])("the snippet of @queue/%s", (adapter, pool) => {
  const database = useTestDatabase({ template: "empty" });
  afterEach(() => void vi.unstubAllEnvs());

  it("runs as it stands: the order and its job are committed together, and the handler ships it", async () => {
    await database.pool.query("create table orders (id text primary key, shipped boolean not null)");
    await using proxy = adapter === "neon" ? await openWebSocketProxy() : undefined;
    expect(proxy === undefined).toBe(adapter !== "neon");
    vi.stubEnv("DATABASE_URL", database.url);
    const { worker, end } = await load(adapter, pool);
    const shipped = async () => (await database.pool.query("select id from orders where shipped")).rows;
    try {
      expect(await shipped()).toEqual([]);
      await worker.start();
      await expect.poll(shipped, { timeout: 10_000 }).toEqual([{ id: "1" }]);
      await expect
        .poll(async () => (await database.pool.query("select kind, status from queue.all_jobs")).rows)
        .toEqual([{ kind: "order.ship", status: "done" }]);
      expect((await database.pool.query("select from pg_stat_activity where application_name = 'queue listener'")).rowCount).toBe(1);
    } finally {
      await worker.stop();
      await end();
    }
  });
});

/** Runs the snippet up to its last line, which would run the worker for ever. */
async function load(adapter: string, pool: string): Promise<{ worker: Worker; end: () => Promise<void> }> {
  const snippet = await firstSnippet(`packages/${adapter}/README.md`);
  expect(snippet).toMatch(lastLine);
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, "readme-run-"));
  try {
    const file = join(folder, "snippet.ts");
    await writeFile(file, `${snippet.replace(lastLine, "")}\nexport { worker };\nexport const end = () => ${pool}.end();\n`);
    return (await import(file)) as { worker: Worker; end: () => Promise<void> };
  } finally {
    await rm(folder, { recursive: true });
  }
}
