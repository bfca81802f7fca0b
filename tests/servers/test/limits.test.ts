import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createQueue, job } from "@queue/core";
import { migrate } from "@queue/core/migrations";
import { pgListener } from "@queue/pg";
import { type EmbeddedServer, startEmbeddedServer } from "@queue/test-database";
import { createWorker, type WorkerEvent } from "@queue/worker";
import { recordLogger } from "./support/recorded-logger.js";

const queue = createQueue({ jobs: { a: job() } });
const patient = { timeout: 15_000 };
const connections = 8;

describe("a server whose connections are all taken", () => {
  let server: EmbeddedServer;
  const pools: pg.Pool[] = [];

  beforeAll(async () => {
    server = await startEmbeddedServer({
      settings: { max_connections: String(connections), superuser_reserved_connections: "0", max_wal_senders: "0" },
    });
    await migrate(open(1));
  });
  afterAll(async () => {
    await Promise.all(pools.map((pool) => pool.end()));
    await server.stop();
  });

  function open(max: number): Kysely<unknown> {
    const pool = new pg.Pool({ connectionString: server.url, max, idleTimeoutMillis: 1 });
    pool.on("error", () => {});
    pools.push(pool);
    return new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  }

  /** Takes every connection that there is, and that becomes free; resolves when the server refused one. */
  async function takeAll(): Promise<{ release(): Promise<void> }> {
    const taken: pg.Client[] = [];
    let isOver = false;
    let refuse = () => {};
    const refused = new Promise<void>((resolve) => (refuse = resolve));
    const taking = (async () => {
      while (!isOver) {
        const client = new pg.Client({ connectionString: server.url });
        client.on("error", () => {});
        await client.connect().then(
          () => void taken.push(client),
          (error: unknown) => {
            expect(error).toMatchObject({ code: "53300" });
            refuse();
          },
        );
      }
    })();
    await Promise.race([refused, taking]);
    return {
      release: async () => {
        isOver = true;
        await taking;
        await Promise.all(taken.map((client) => client.end()));
      },
    };
  }

  test("refuses an enqueue and the start of a worker with its own error; the same worker starts when there is room", async () => {
    const others = await takeAll();
    const worker = createWorker({ queue, db: open(2), logger: recordLogger(), handlers: { a: () => {} } });
    try {
      await expect(queue.enqueue(open(1), "a", null)).rejects.toMatchObject({ code: "53300" });
      await expect(worker.start()).rejects.toMatchObject({ code: "53300" });
    } finally {
      await others.release();
    }
    await expect.poll(() => worker.start().then(() => "started", String), patient).toBe("started");
    await worker.stop();
  });

  test("costs a worker that runs nothing but time: it says so, and goes on when there is room", async () => {
    const events: WorkerEvent[] = [];
    const worker = createWorker({
      queue,
      db: open(2),
      logger: recordLogger(),
      pollInterval: 50,
      listener: pgListener({ connectionString: server.url }),
      onEvent: (event) => void events.push(event),
      handlers: { a: () => {} },
    });
    const errors = () => events.filter((event) => event.type === "worker.error");
    await worker.start();
    const producer = new pg.Client({ connectionString: server.url });
    await producer.connect();
    try {
      const others = await takeAll();
      await expect.poll(() => errors().length, patient).toBeGreaterThan(2);
      await producer.query("insert into queue.jobs (kind) values ('a')");
      await others.release();
      await expect.poll(() => events.filter(({ type }) => type === "job.completed").length, patient).toBe(1);
    } finally {
      await producer.end();
      await worker.stop();
    }
    for (const { error } of errors()) expect(error).toMatchObject({ code: "DATABASE_ERROR", sqlState: "53300", isRetryable: true });
  });
});
