import { Kysely, PostgresDialect } from "kysely";
import { expect, test } from "vitest";
import { useTestDatabase } from "@queue/test-database";
import type { Database } from "@shop/database";
import { type AppProcess, startApp } from "./app-process.js";

const database = useTestDatabase({ template: "empty" });
const orders = 100;
const clients = 10;

async function order(url: string, number: number): Promise<number> {
  const response = await fetch(new URL("/orders", url), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      customerId: 1 + (number % 7),
      lines: [
        { productId: 1 + (number % 7), quantity: 1 },
        { productId: 1 + ((number + 3) % 7), quantity: 2 },
      ],
    }),
  });
  await response.arrayBuffer();
  return response.status;
}

async function startAll(): Promise<{ apis: AppProcess[]; workers: AppProcess[] }> {
  const env = { DATABASE_URL: database.url, REVIEW_DELAY_SECONDS: "1" };
  const apis = [startApp("api", { env }), startApp("api", { env })];
  const workers = [startApp("worker", { env }), startApp("worker", { env })];
  await Promise.all(workers.map((worker) => worker.printed(/Working as/)));
  return { apis, workers };
}

test(
  "two apis and two workers on one server: every job ends once, every customer gets one mail and one question",
  { timeout: 90_000 },
  async () => {
    const { apis, workers } = await startAll();
    const urls = await Promise.all(apis.map(async (api) => (await api.printed(/http:\S+/))[0]));
    const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool: database.newPool({ max: 2 }) }) });

    const statuses: number[] = [];
    const client = async (first: number) => {
      for (let number = first; number < orders; number += clients) statuses.push(await order(urls[number % 2] ?? "", number));
    };
    await Promise.all(Array.from({ length: clients }, (_, first) => client(first)));
    expect(statuses).toEqual(Array.from({ length: orders }, () => 201));
    await expect
      .poll(() => db.selectFrom("queue.jobs").select(["kind", "status", "last_error"]).execute(), { timeout: 60_000 })
      .toEqual([]);

    const ended = await db.selectFrom("queue.jobs_archive").select(["id", "status", "kind", "idempotency_key", "worker"]).execute();
    expect(ended).toHaveLength(orders * 3);
    expect(ended.every(({ status }) => status === "done")).toBe(true);
    expect(new Set(ended.map(({ kind, idempotency_key }) => `${kind} ${idempotency_key}`)).size).toBe(orders * 3);
    expect(new Set(ended.map(({ worker }) => worker)).size).toBe(2);
    const placed = (await db.selectFrom("orders").select(["id", "status"]).execute()).sort((a, b) => a.id.localeCompare(b.id));
    const ids = placed.map(({ id }) => id);
    expect(ids).toHaveLength(orders);
    expect(placed.every(({ status }) => status === "shipped")).toBe(true);
    for (const table of ["mails", "text_messages"] as const) {
      const sent = await db.selectFrom(table).select("reference").execute();
      expect(sent.map(({ reference }) => reference).sort((a, b) => a.localeCompare(b))).toEqual(ids);
    }
    for (const app of [...apis, ...workers]) app.signal("SIGTERM");
    expect(await Promise.all([...apis, ...workers].map((app) => app.exitCode))).toEqual([0, 0, 0, 0]);
  },
);

test("an api or a worker without a database says what to do, and ends", async () => {
  for (const name of ["api", "worker"] as const) {
    const app = startApp(name);

    expect(await app.exitCode).toBe(1);
    expect(app.output()).toContain("DATABASE_URL is not set.");
  }
});
