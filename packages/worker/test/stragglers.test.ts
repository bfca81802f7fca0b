import { describe, expect, test } from "vitest";
import type { Transaction } from "kysely";
import { createQueue, job } from "@queue/core";
import { clientListener } from "./support/client-listener.js";
import { createGate } from "./support/gate.js";
import { passBy as passJobsBy } from "./support/pass-by.js";
import { type TestTables, useWorkers } from "./support/use-workers.js";

const workers = useWorkers();
const queue = createQueue({
  jobs: { a: job<{ n: number }>(), mail: job<{ n: number }>({ lane: "mail" }), slow: job({ lane: "slow" }) },
});

/** Nobody waits for a poll where there is a listener: the next one is a minute away. */
const ways: [how: string, options: () => { readonly pollInterval: number; readonly listener?: ReturnType<typeof clientListener> }][] = [
  ["heard of", () => ({ pollInterval: 60_000, listener: clientListener(workers.database.url) })],
  ["found by a poll", () => ({ pollInterval: 100 })],
];

const passBy = (ms: number) => passJobsBy(workers, () => queue.enqueue(workers.db, "a", { n: 0 }), ms);

/** Calls `write` in a transaction that commits when the worker has worked newer jobs for so long. Returns what it returned. */
function commitLate<T>(ms: number, write: (trx: Transaction<TestTables>) => Promise<T>): Promise<T> {
  return workers.db.transaction().execute(async (trx) => {
    const result = await write(trx);
    await passBy(ms);
    return result;
  });
}

describe.each(ways)("what commits late, %s", (how, options) => {
  const start = () => workers.start({ queue, ...options(), handlers: { a: () => {}, mail: () => {} } });

  test.each([50, 400, 1_500])("is worked: a job of a transaction that was open for %i ms", async (ms) => {
    const { events } = await start();
    await passBy(0);
    const { id } = await commitLate(ms, (trx) => queue.enqueue(trx, "a", { n: 1 }));
    await events.untilFor(id, "job.completed");
  });

  test("is worked: a thousand jobs at once, of which the first claims take some only", async () => {
    await start();
    await passBy(0);
    const results = await commitLate(600, (trx) =>
      queue.enqueueMany(
        trx,
        Array.from({ length: 1_000 }, (_, n) => ({ kind: "a", payload: { n } })),
      ),
    );
    const ids = new Set(results.map(({ id }) => id));
    const isDone = async () => (await workers.jobs()).filter(({ id, status }) => ids.has(id) && status === "done").length;
    await expect.poll(isDone, { timeout: 20_000, interval: 100 }).toBe(1_000);
  });

  test("is worked: a redrive and a retry, of jobs that are an hour old", async () => {
    const { events } = await start();
    await passBy(0);
    const admin = queue.admin(workers.db);
    const dead = await queue.enqueue(workers.db, "a", { n: 1 }, { delay: "1h" });
    const waiting = await queue.enqueue(workers.db, "a", { n: 2 }, { delay: "1h" });
    await workers.sql("update queue.jobs set status = 'dead', run_at = now() - interval '1 hour' where id = $1", [dead.id]);
    expect((await admin.job(dead.id))?.status).toBe("dead");
    await commitLate(600, async (trx) => {
      expect(await queue.admin(trx).redrive({ kind: "a" })).toMatchObject({ count: 1, conflicts: [] });
      await queue.admin(trx).retry(waiting.id);
    });
    for (const { id } of [dead, waiting]) await events.untilFor(id, "job.completed");
  });

  test("is worked: what was enqueued in a lane before it was paused and meanwhile, when it is resumed", async () => {
    const gate = createGate();
    const { events } = await workers.start({
      queue,
      ...options(),
      concurrency: 1,
      handlers: { a: () => {}, mail: () => {}, slow: () => gate.pass() },
    });
    const first = await queue.enqueue(workers.db, "mail", { n: 1 });
    await events.untilFor(first.id, "job.completed");
    const { id: inTheWay } = await queue.enqueue(workers.db, "slow", null);
    await gate.reached;
    const before = await queue.enqueue(workers.db, "mail", { n: 2 });
    const admin = queue.admin(workers.db);
    await admin.pause("mail");
    const meanwhile = await queue.enqueue(workers.db, "mail", { n: 3 });
    gate.open();
    await events.untilFor(inTheWay, "job.completed");
    const late = await commitLate(600, (trx) => queue.enqueue(trx, "mail", { n: 4 }));
    // As if the pause had lasted for that long. A worker that does not hear of it finds it when it looks behind, once a minute.
    const insertOld = `insert into queue.jobs (kind, lane, payload, run_at)
      values ('mail', 'mail', '{"n": 5}', now() - interval '1 hour') returning id::text`;
    const old = how === "heard of" ? await workers.sql<{ id: string }>(insertOld) : [];
    await passBy(600);
    expect((await workers.jobs()).filter(({ claims, lane }) => lane === "mail" && claims === 0)).toHaveLength(3 + old.length);
    await admin.resume("mail");
    for (const { id } of [before, meanwhile, late, ...old]) await events.untilFor(id, "job.completed");
  });
});

describe("a job that SQL inserts with a due time long ago", () => {
  test.each(["1 hour", "60 years"])("is worked at once while the worker is busy with newer ones: %s ago", async (ago) => {
    const { events } = await workers.start({
      queue,
      pollInterval: "60s",
      listener: clientListener(workers.database.url),
      concurrency: 3,
      handlers: { a: () => {} },
    });
    const enqueueSome = () =>
      queue.enqueueMany(
        workers.db,
        Array.from({ length: 50 }, (_, n) => ({ kind: "a", payload: { n } })),
      );
    await enqueueSome();
    await events.until("job.completed", 50);
    let isOver = false;
    // There is always more to do than the worker has done.
    const feeding = (async () => {
      for (let fed = 50; !isOver; fed += 50) {
        await enqueueSome();
        await events.until("job.completed", fed);
      }
    })();
    try {
      const [{ at } = { at: "" }] = await workers.sql<{ at: string }>("select (now() - $1::interval)::text as at", [ago]);
      const [inserted] = await workers.sql<{ id: string }>(
        "insert into queue.jobs (kind, payload, run_at) values ('a', '{\"n\": 1}', $1) returning id::text",
        [at],
      );
      await events.untilFor(inserted?.id ?? "", "job.completed");
    } finally {
      isOver = true;
      await feeding;
    }
  });
});
