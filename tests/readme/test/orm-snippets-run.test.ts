import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { useTestDatabase } from "@queue/test-database";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { generateClient } from "../../../packages/prisma/test/generate-client.js";
import { firstSnippet } from "./first-snippet.js";

const cache = fileURLToPath(new URL("../../../node_modules/.cache/", import.meta.url));
let folder: string;
beforeAll(async () => {
  await mkdir(cache, { recursive: true });
  folder = await mkdtemp(join(cache, "readme-run-"));
});
afterAll(() => rm(folder, { recursive: true }));

describe.each([
  ["knex", "knex.destroy()"],
  ["typeorm", "dataSource.destroy()"],
  ["mikro-orm", "orm.close()"],
  ["prisma", "prisma.$disconnect()"],
])("the snippet of @queue/%s", (name, close) => {
  const database = useTestDatabase({ template: "empty" });
  afterEach(() => void vi.unstubAllEnvs());

  it("runs: migrates, enqueues in the transaction of the order, and ships it in the transaction of the job", async () => {
    await database.pool.query("create table orders (id text primary key, status text not null, placed_at timestamptz default now())");
    if (name === "prisma") await generateClient({ folder });
    const snippet = await firstSnippet(`packages/${name}/README.md`);
    const ended = snippet.replace("await worker.run();", "await worker.runUntilIdle();");
    expect(ended).not.toBe(snippet);
    const file = join(folder, `${name}.ts`);
    await writeFile(file, `${ended}\nexport const close = () => ${close};\n`);
    vi.stubEnv("DATABASE_URL", database.url);
    const { close: closeAll } = (await import(file)) as { close(): Promise<void> };
    await closeAll();
    const { rows } = await database.pool.query(
      "select orders.status as order, all_jobs.status as job, kind, payload from orders cross join queue.all_jobs",
    );
    expect(rows).toEqual([{ order: "shipped", job: "done", kind: "order.ship", payload: { orderId: "o1" } }]);
  });
});
