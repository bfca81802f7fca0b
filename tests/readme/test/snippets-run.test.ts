import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { useTestDatabase } from "@queue/test-database";
import type { Kysely } from "kysely";
import { afterEach, describe, expect, it, vi } from "vitest";
import { firstSnippet } from "./first-snippet.js";

const cache = fileURLToPath(new URL("../../../node_modules/.cache/", import.meta.url));

describe("the snippet of @queue/core", () => {
  const database = useTestDatabase({ template: "empty" });
  afterEach(() => void vi.unstubAllEnvs());

  it("runs as it stands: migrates, enqueues in the transaction of the order, and shows the health", async () => {
    await database.pool.query("create table orders (id text primary key, email text not null)");
    await mkdir(cache, { recursive: true });
    const folder = await mkdtemp(join(cache, "readme-run-"));
    const file = join(folder, "snippet.ts");
    await writeFile(file, `${await firstSnippet("packages/core/README.md")}\nexport { db };\n`);
    vi.stubEnv("DATABASE_URL", database.url);
    const log = vi.spyOn(console, "log").mockImplementation(() => {});
    try {
      const { db } = (await import(file)) as { db: Kysely<unknown> };
      await db.destroy();
      expect(log.mock.calls[0]).toEqual(["1", true]);
      const { rows } = await database.pool.query("select kind, status, idempotency_key, payload from queue.all_jobs");
      expect(rows).toEqual([{ kind: "order.send-receipt", status: "queued", idempotency_key: "receipt-o1", payload: { orderId: "o1" } }]);
    } finally {
      log.mockRestore();
      await rm(folder, { recursive: true });
    }
  });
});
