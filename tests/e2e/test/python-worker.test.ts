import { describe, expect, test } from "vitest";
import { queue } from "../src/processes/e2e-queue.js";
import { shortLease, useE2e } from "../src/support/use-e2e.js";
import { findPython, startPython } from "./support/start-python.js";

const e2e = useE2e();
const python = findPython();
const missing = "psycopg 3 for Python is not installed: `apt-get install python3-psycopg`, or name a Python that has it in PYTHON.";
if (python === undefined) console.warn(`Skipped: ${missing}`);

const allDone = (count: number) => `select from queue.all_jobs having count(*) = ${count} and bool_and(status = 'done')`;
const entries = () => e2e.sql<{ entry: string; pid: number; attempt: number }>("select entry, pid, attempt from ledger order by entry");
const start = (settings: Omit<Parameters<typeof startPython>[1], "url"> = {}) => startPython(python ?? "", { url: e2e.url, ...settings });
/** When so many workers have armed the bell: from here on they need not poll. */
const untilListening = (count = 1) =>
  e2e.sqlUntil(
    `select from pg_locks where locktype = 'advisory' and mode = 'ShareLock'
        and database = (select oid from pg_database where datname = current_database()) having count(distinct pid) >= ${count}`,
  );

/** Business transactions of TypeScript: every third is rolled back. The entries that are committed. */
async function produce(name: string, transactions: number): Promise<string[]> {
  const committed: string[] = [];
  for (let n = 0; n < transactions; n++) {
    const entry = `${name}-${n}`;
    const transaction = e2e.db.transaction().execute(async (trx) => {
      await trx.insertInto("orders").values({ entry }).execute();
      await queue.enqueue(trx, "enter", { entry, ms: n % 5 }, { key: entry });
      if (n % 3 === 2) throw new Error("changed its mind");
    });
    await transaction.then(
      () => committed.push(entry),
      () => {},
    );
  }
  return committed;
}

describe.skipIf(python === undefined)("a worker in Python", () => {
  test("works what TypeScript enqueues, once the transaction has committed, and is rung for it", async () => {
    const worker = start();
    await untilListening();
    const committed = await produce("ts", 12);
    await e2e.sqlUntil(allDone(committed.length));
    expect(await entries()).toEqual(committed.toSorted().map((entry) => ({ entry, pid: worker.pid, attempt: 1 })));
    expect(worker.complaints()).toBe("");
  });

  test("is woken for a job that is due later, and for a retry", async () => {
    const worker = start();
    await untilListening();
    const { id } = await queue.enqueue(e2e.db, "work", { ms: 0 }, { delay: "300ms" });
    await worker.until("handling", { id });
    const failing = await queue.enqueue(e2e.db, "work", { ms: 0, fails: true }, { maxAttempts: 2 });
    // The jitter of its delay begins at zero: it may have been tried again by now.
    await e2e.sqlUntil(`select from queue.jobs where id = ${failing.id} and (status = 'queued' and attempts = 1 or status = 'dead')`);
    await e2e.sql("update queue.jobs set run_at = clock_timestamp() where status = 'queued'");
    await e2e.sql("select pg_notify(queue.wake_up_channel(), '*')");
    await e2e.sqlUntil(`select from queue.jobs where id = ${failing.id} and status = 'dead'`);
    expect(await e2e.job(failing.id)).toMatchObject({ status: "dead", attempts: 2, last_error: "as it was told" });
    const [row] = await e2e.sql<{ errors: unknown }>("select errors from queue.jobs where id = $1", [failing.id]);
    expect(row?.errors).toMatchObject(
      [1, 2].map((attempt) => ({ attempt, name: "ValueError", stack: expect.stringContaining("Traceback") })),
    );
  });

  test("enqueues in its own transactions what TypeScript works", async () => {
    const worker = await e2e.startWork();
    const producer = start({ produces: "py", transactions: 12 });
    expect(await producer.ended).toEqual({ code: 0, signal: null });
    await e2e.sqlUntil(allDone(8));
    const committed = Array.from({ length: 12 }, (_, n) => n).filter((n) => n % 3 !== 2);
    expect((await entries()).map(({ entry, pid }) => [entry, pid])).toEqual(committed.map((n) => [`py-${n}`, worker.pid]).toSorted());
    expect(await e2e.sql("select entry from orders")).toHaveLength(8);
    await producer.until("produced");
  });

  test("works beside one in TypeScript: every job once, whoever enqueued it, and both have their share", async () => {
    const [typescript, worker] = [await e2e.startWork({ options: { concurrency: 1 } }), start()];
    await untilListening(2);
    const producers = [start({ produces: "py-a", transactions: 60 }), start({ produces: "py-b", transactions: 60 })];
    const own = await produce("ts", 60);
    for (const producer of producers) expect(await producer.ended).toEqual({ code: 0, signal: null });
    await e2e.sqlUntil(allDone(120));
    const ledger = await entries();
    const orders = await e2e.sql<{ entry: string }>("select entry from orders order by entry");
    expect(ledger.map(({ entry }) => entry)).toEqual(orders.map(({ entry }) => entry));
    expect(own.every((entry) => ledger.some((one) => one.entry === entry))).toBe(true);
    expect(new Set(ledger.map(({ pid }) => pid))).toEqual(new Set([typescript.pid, worker.pid]));
    expect(worker.complaints()).toBe("");
  });

  test("that is killed in the middle of a job has it finished by the other, and what it wrote is gone", async () => {
    const worker = start({ lease: 1, poll: 0.3 });
    await untilListening();
    const { id } = await queue.enqueue(e2e.db, "enter", { entry: "e", ms: 60_000 });
    await worker.until("handling", { id, attempt: 1 });
    const other = await e2e.startWork({ options: shortLease });
    await e2e.sql("update queue.jobs set payload = jsonb_set(payload, '{ms}', '1')");
    worker.signal("SIGKILL");
    await other.until("job.completed", { id });
    expect(await e2e.job(id)).toMatchObject({ status: "done", attempts: 2, last_error: expect.stringContaining("lease ran out") });
    expect(await entries()).toEqual([{ entry: "e", pid: other.pid, attempt: 2 }]);
  });

  test("finishes the job of a killed worker in TypeScript", async () => {
    const killed = await e2e.startWork({ options: { ...shortLease, concurrency: 1 } });
    const { id } = await queue.enqueue(e2e.db, "enter", { entry: "e", ms: 60_000 });
    await killed.until("handling", { id });
    const worker = start({ lease: 1, poll: 0.3 });
    await worker.until("worker");
    await e2e.sql("update queue.jobs set payload = jsonb_set(payload, '{ms}', '1')");
    killed.signal("SIGKILL");
    await e2e.sqlUntil(allDone(1));
    expect(await entries()).toEqual([{ entry: "e", pid: worker.pid, attempt: 2 }]);
  });

  test("keeps the lease of a job that takes longer than one", async () => {
    const worker = start({ lease: 1, poll: 0.3 });
    await untilListening();
    const { id } = await queue.enqueue(e2e.db, "enter", { entry: "long", ms: 3_000 });
    const other = await e2e.startWork({ options: shortLease });
    await e2e.sqlUntil(allDone(1));
    expect(await e2e.job(id)).toMatchObject({ status: "done", attempts: 1 });
    expect([...(await entries()).map(({ attempt }) => attempt), ...other.of("handling")]).toEqual([1]);
    expect(worker.complaints()).toBe("");
  });

  test("ends its job after SIGTERM, gives back what it had not begun, and takes its leave", async () => {
    const worker = start();
    await untilListening();
    const [first, ...others] = await queue.enqueueMany(
      e2e.db,
      [1, 2, 3].map((n) => ({ kind: "enter", payload: { entry: `e${n}`, ms: 500 } }) as const),
    );
    await worker.until("handling", { id: first?.id ?? "" });
    worker.signal("SIGTERM");
    expect(await worker.ended).toEqual({ code: 0, signal: null });
    expect(worker.told.at(-1)?.what).toBe("stopped");
    expect(await e2e.job(first?.id ?? "")).toMatchObject({ status: "done" });
    for (const { id } of others) expect(await e2e.job(id)).toMatchObject({ status: "queued", attempts: 0 });
    expect(await e2e.sql("select id from queue.workers")).toEqual([]);
    expect(worker.complaints()).toBe("");
  });
});
