import { describe, expect, test } from "vitest";
import { createQueue, job } from "@queue/core";
import { clientListener } from "./support/client-listener.js";
import { forbidUncaught } from "./support/forbid-uncaught.js";
import { createGate } from "./support/gate.js";
import { until } from "./support/until.js";
import { useWorkers } from "./support/use-workers.js";

const workers = useWorkers();
const queue = createQueue({ jobs: { long: job(), other: job() } });

/** As a careful administrator sets them for a role; sessions of the worker get them like this. */
const limits = "-c statement_timeout=1s -c lock_timeout=100ms -c idle_in_transaction_session_timeout=400ms -c idle_session_timeout=300ms";

forbidUncaught();

describe("B102: time-outs that an administrator has set", () => {
  test("and a table that is locked for a second cost a long job nothing, and no session of ours idles in a transaction", async () => {
    const gate = createGate();
    const name = "under limits";
    const { events } = await workers.start({
      queue,
      db: workers.open({ options: limits, application_name: name }),
      listener: clientListener(workers.database.url),
      lease: "5s",
      heartbeat: 100,
      sweepInterval: 100,
      handlers: { long: () => gate.pass(), other: () => {} },
    });
    const { id } = await queue.enqueue(workers.db, "long", null);
    await gate.reached;
    let idled = 0;
    const idling = () =>
      workers.sql("select from pg_stat_activity where application_name = $1 and state like 'idle in transaction%'", [name]);

    const client = await workers.database.pool.connect();
    try {
      await client.query("begin; lock table queue.jobs in access exclusive mode");
      // A second is long enough for every statement of ours to fail, several times.
      await until(async () => {
        idled += (await idling()).length;
        return events.of("worker.error").length >= 5;
      }, "five statements that failed");
      await client.query("insert into queue.jobs (kind) values ('other')");
      await client.query("commit");
    } finally {
      client.release();
    }
    const unlockedAt = performance.now();
    await events.until("job.completed");
    expect(performance.now() - unlockedAt).toBeLessThan(1_500);
    await workers.untilHeartbeats(id, 2);
    gate.open();
    await events.untilFor(id, "job.completed");
    expect(await workers.job(id)).toMatchObject({ status: "done", attempts: 1, claims: 1 });
    expect(idled + (await idling()).length).toBe(0);
    expect(new Set(events.of("worker.error").map(({ error }) => error.isRetryable))).toEqual(new Set([true]));
    expect(events.of("job.lease-lost")).toEqual([]);
  });

  test("end idle sessions, and what comes after is done all the same", async () => {
    const name = "idle under limits";
    const { events } = await workers.start({
      queue,
      db: workers.open({ options: limits, application_name: name, idleTimeoutMillis: 0 }),
      pollInterval: "60s",
      listener: clientListener(workers.database.url),
      handlers: { other: () => {} },
    });
    for (let round = 1; round <= 2; round++) {
      await workers.sqlUntil(`select where not exists (select from pg_stat_activity where application_name = '${name}')`);
      await queue.enqueue(workers.db, "other", null);
      await events.until("job.completed", round);
    }
  });
});
