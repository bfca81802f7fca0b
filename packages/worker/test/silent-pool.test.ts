import { describe, expect, test } from "vitest";
import { createQueue, job } from "@queue/core";
import { clientListener } from "./support/client-listener.js";
import { openTcpProxy } from "./support/tcp-proxy.js";
import { useWorkers } from "./support/use-workers.js";

const workers = useWorkers();
const queue = createQueue({ jobs: { plain: job<{ n: number }>(), write: job({ backoff: { base: 1 } }) } });

describe("a pool whose connections have gone silent", () => {
  test("does not stop the worker: it goes on over the listener's connection", async () => {
    const proxy = await openTcpProxy(workers.database.url);
    const { events } = await workers.start({
      queue,
      db: workers.open({ connectionString: proxy.url, max: 2 }),
      listener: clientListener(workers.database.url),
      lease: 1_000,
      heartbeat: 200,
      handlers: { plain: () => {} },
    });
    await queue.enqueue(workers.db, "plain", { n: 1 });
    await events.until("job.completed");
    proxy.holdAnswersFrom("");
    for (let n = 2; n < 6; n++) await queue.enqueue(workers.db, "plain", { n });
    await events.until("job.completed", 5);
    expect(await workers.sql("select status from queue.all_jobs where status <> 'done'")).toEqual([]);
    await proxy.close();
  });

  test("costs a transactional job no attempt: its handler was never called", async () => {
    const proxy = await openTcpProxy(workers.database.url);
    let calls = 0;
    const { events } = await workers.start({
      queue,
      db: workers.open({ connectionString: proxy.url, max: 4, connectionTimeoutMillis: 300, query_timeout: 300 }),
      listener: clientListener(workers.database.url),
      lease: 1_000,
      heartbeat: 200,
      handlers: {
        write: {
          transactional: true,
          run: () => {
            calls += 1;
            return Promise.resolve();
          },
        },
      },
    });
    proxy.holdAnswersFrom("");
    const { id } = await queue.enqueue(workers.db, "write", null);
    await events.until("job.released", 2);
    expect(calls).toBe(0);
    expect(await workers.sql("select errors from queue.jobs where id = $1 and attempts <= 1", [id])).toEqual([{ errors: [] }]);
    await proxy.close();
  });
});
