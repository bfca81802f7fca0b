import { describe, expect, test } from "vitest";
import { createQueue, job, QueueError } from "@queue/core";
import { clientListener } from "./support/client-listener.js";
import { forbidUncaught } from "./support/forbid-uncaught.js";
import { createGate } from "./support/gate.js";
import { openTcpProxy } from "./support/tcp-proxy.js";
import { useWorkers } from "./support/use-workers.js";

const workers = useWorkers();
const queue = createQueue({
  jobs: { long: job<{ n: number }>({ backoff: { base: 1 } }), write: job({ backoff: { base: 1 } }), other: job() },
});
const pool = { application_name: "the worker's pool" };

forbidUncaught();

async function terminate(name: string): Promise<number> {
  const rows = await workers.sql(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1 and datname = current_database()",
    [name],
  );
  return rows.length;
}

describe("B16: idle connections that the server closes", () => {
  test("are made again: what comes next is done, without a poll", async () => {
    const { events } = await workers.start({
      queue,
      db: workers.open(pool),
      pollInterval: "60s",
      listener: clientListener(workers.database.url),
      handlers: { other: () => {} },
    });
    expect(await terminate(pool.application_name)).toBeGreaterThan(0);
    await queue.enqueue(workers.db, "other", null);
    await events.until("job.completed");
  });
});

describe("B24: connections that are terminated while a handler runs", () => {
  test.each([false, true])("cost no lease and no attempt (with a listener: %s)", async (listens) => {
    const gate = createGate();
    const listener = clientListener(workers.database.url);
    const { events } = await workers.start({
      queue,
      db: workers.open(pool),
      lease: 2_000,
      heartbeat: 100,
      ...(listens ? { listener } : {}),
      handlers: { long: () => gate.pass() },
    });
    const { id } = await queue.enqueue(workers.db, "long", { n: 1 });
    await gate.reached;
    for (let round = 0; round < 2; round++) {
      await terminate(pool.application_name);
      await terminate("test listener");
      await workers.untilHeartbeats(id, 2);
    }
    gate.open();
    await events.untilFor(id, "job.completed");
    expect(await workers.job(id)).toMatchObject({ status: "done", attempts: 1, claims: 1 });
    expect(events.of("job.lease-lost")).toEqual([]);
  });
});

describe("B18: the connection of a transactional handler that is terminated between two statements", () => {
  test.each([
    ["by an operator", () => terminate(pool.application_name)],
    [
      "by the server's limit for idle transactions",
      () =>
        workers.sqlUntil(
          "select where not exists (select from pg_stat_activity where state = 'idle in transaction' and datname = current_database())",
        ),
    ],
  ])("%s fails the attempt, which runs again and commits", async (how, end) => {
    const first = createGate();
    const options = how === "by an operator" ? pool : { ...pool, options: "-c idle_in_transaction_session_timeout=200" };
    const { events } = await workers.start({
      queue,
      db: workers.open(options),
      concurrency: 3,
      handlers: {
        write: {
          transactional: true,
          run: async ({ attempt }, { trx }) => {
            await trx
              .insertInto("ledger")
              .values({ entry: `attempt ${attempt}`, job: null })
              .execute();
            if (attempt === 1) {
              await first.pass();
              await trx.insertInto("ledger").values({ entry: "never", job: null }).execute();
            }
          },
        },
        other: () => {},
      },
    });
    const { id } = await queue.enqueue(workers.db, "write", null);
    await first.reached;
    await end();
    first.open();
    await queue.enqueue(workers.db, "other", null);
    await events.until("job.completed", 2);
    expect(await workers.ledger()).toEqual(["attempt 2"]);
    expect(await workers.job(id)).toMatchObject({ status: "done", attempts: 2 });
  });
});

describe("B45: outcomes that cannot be written at first", () => {
  test.each(["40P01", "57P01", "40001", "55P03"])("are written later, after %s: no handler runs twice", async (sqlState) => {
    const runs: number[] = [];
    await workers.sql("create sequence if not exists refusals");
    await workers.sql("alter sequence refusals restart");
    await workers.sql(`create or replace function refuse() returns trigger language plpgsql as $$ begin
      if nextval('refusals') <= 2 then raise exception using errcode = '${sqlState}'; end if; return null; end $$`);
    await workers.sql("create trigger refuse after delete on queue.jobs for each statement execute function refuse()");
    try {
      const { events } = await workers.start({ queue, concurrency: 50, handlers: { long: ({ payload }) => void runs.push(payload.n) } });
      await queue.enqueueMany(
        workers.db,
        Array.from({ length: 50 }, (_, n) => ({ kind: "long", payload: { n } })),
      );
      await events.until("job.completed", 50);
      expect(runs).toHaveLength(50);
      expect(events.of("worker.error").map(({ error }) => QueueError.is(error, "DATABASE_ERROR") && error.sqlState)).toContain(sqlState);
      expect(events.of("job.lease-lost")).toEqual([]);
    } finally {
      await workers.sql("drop trigger refuse on queue.jobs");
    }
  });

  test("one of which is refused for good holds back no other, and is returned when its lease is over", async () => {
    await workers.sql(`create or replace function refuse_one() returns trigger language plpgsql as $$ begin
      if old.payload->>'n' = '7' then raise exception using errcode = '23503'; end if; return old; end $$`);
    await workers.sql("create trigger refuse_one before delete on queue.jobs for each row execute function refuse_one()");
    try {
      const { events } = await workers.start({
        queue,
        lease: 500,
        heartbeat: 100,
        sweepInterval: 100,
        concurrency: 20,
        handlers: { long: () => {}, other: () => {} },
      });
      const jobs = await queue.enqueueMany(
        workers.db,
        Array.from({ length: 20 }, (_, n) => ({ kind: "long", payload: { n }, options: { maxAttempts: 2 } }) as const),
      );
      await events.until("job.completed", 19);
      await queue.enqueue(workers.db, "other", null);
      await events.until("job.completed", 20);
      await events.untilFor(jobs[7]?.id ?? "", "job.dead");
      expect(await workers.job(jobs[7]?.id ?? "")).toMatchObject({ status: "dead", attempts: 2 });
    } finally {
      await workers.sql("drop trigger refuse_one on queue.jobs");
    }
  });
});

describe("an answer that is lost on its way", () => {
  test("to a completion: the job is done, and told as done", async () => {
    const proxy = await openTcpProxy(workers.database.url);
    try {
      const gate = createGate();
      const { events } = await workers.start({
        queue,
        db: workers.open({ connectionString: proxy.url }),
        listener: clientListener(workers.database.url),
        pollInterval: "60s",
        lease: "60s",
        handlers: { long: () => gate.pass(), other: () => {} },
      });
      const { id } = await queue.enqueue(workers.db, "long", { n: 1 });
      await gate.reached;
      proxy.holdAnswersFrom("SELECT 1"); // of all that may be asked now, only the completion finds a row
      gate.open();
      await workers.untilJobs("done", 1);
      proxy.cut();
      proxy.letAnswersThrough();
      await events.untilFor(id, "job.completed");
      expect(events.typesFor(id)).toEqual(["job.started", "job.completed"]);
    } finally {
      await proxy.close();
    }
  });

  test("to a claim: its jobs are given back with their attempts, and begun at once", async () => {
    const proxy = await openTcpProxy(workers.database.url);
    try {
      const { events } = await workers.start({
        queue,
        db: workers.open({ connectionString: proxy.url }),
        lease: "10m",
        handlers: { long: () => {} },
      });
      proxy.holdAnswersFrom("long");
      await queue.enqueueMany(
        workers.db,
        Array.from({ length: 5 }, (_, n) => ({ kind: "long", payload: { n } })),
      );
      await workers.untilJobs("running", 5);
      proxy.cut();
      proxy.letAnswersThrough();
      await events.until("job.completed", 5);
      expect((await workers.jobs()).map(({ attempts }) => attempts)).toEqual([1, 1, 1, 1, 1]);
    } finally {
      await proxy.close();
    }
  });
});
