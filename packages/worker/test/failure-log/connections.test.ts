import { afterEach, describe, expect, test } from "vitest";
import { createQueue, job } from "@queue/core";
import { createGate } from "../support/gate.js";
import { useWorkers } from "../support/use-workers.js";
import { withDeadline } from "../support/with-deadline.js";
import { unhandledDuring } from "./support/unhandled-during.js";

const workers = useWorkers();
const queue = createQueue({ jobs: { works: job(), long: job() } });
const short = { lease: "1s", heartbeat: 100, sweepInterval: 50 } as const;

describe("a pool that its owner ends too early", () => {
  test("does not keep a stop for longer than the lease, ends no process, and the job runs elsewhere", async () => {
    const gate = createGate();
    let id = "";
    const unhandled = await unhandledDuring(async () => {
      const pool = workers.database.newPool();
      const { worker, events } = await workers.start({ queue, ...short, db: workers.openOn(pool), handlers: { long: () => gate.pass() } });
      ({ id } = await queue.enqueue(workers.db, "long", null));
      await gate.reached;
      await pool.end();
      await events.until("worker.error");
      gate.open();
      await withDeadline(worker.stop({ grace: 100 }), "the stop", 8_000);
      expect(events.of("worker.stopped")).toHaveLength(1);
    });
    expect(unhandled).toEqual([]);
    const { events } = await workers.start({ queue, ...short, handlers: { long: () => {} } });
    await events.untilFor(id, "job.completed");
    expect(await workers.job(id)).toMatchObject({ attempts: 2 });
  });

  test("before the start makes the start reject, and leaves nothing running", async () => {
    const pool = workers.database.newPool();
    await pool.end();
    const { worker } = workers.create({ queue, db: workers.openOn(pool), handlers: { works: () => {} } });
    await expect(worker.start()).rejects.toThrow(/pool/);
    await worker.stop();
  });

  test("in the middle of a transactional handler fails its attempt, and nothing of it is committed", async () => {
    const gate = createGate();
    const unhandled = await unhandledDuring(async () => {
      const pool = workers.database.newPool();
      const { worker } = await workers.start({
        queue,
        ...short,
        db: workers.openOn(pool),
        handlers: {
          long: {
            transactional: true,
            run: async (_job, { trx }) => {
              await trx.insertInto("ledger").values({ entry: "half", job: null }).execute();
              await gate.pass();
              throw new Error("no");
            },
          },
        },
      });
      await queue.enqueue(workers.db, "long", null);
      await gate.reached;
      const ended = pool.end();
      gate.open();
      await ended;
      await worker.stop({ grace: 100 });
    });
    expect(unhandled).toEqual([]);
    expect(await workers.ledger()).toEqual([]);
  });
});

// Last: through a pooler, sessions that began meanwhile stay read-only for whoever gets them next.
describe("B22: a server that is read-only for a while, as after a failover", () => {
  afterEach(async () => {
    await workers.sql(`alter database ${await databaseName()} reset default_transaction_read_only`);
  });

  test("costs no attempt, marks nothing as failed, and jobs flow again without a restart", async () => {
    const name = "read only for a while";
    const gate = createGate();
    const { events } = await workers.start({
      queue,
      ...short,
      lease: "30s",
      db: workers.open({ application_name: name, max: 1 }),
      handlers: { works: () => {}, long: () => gate.pass() },
    });
    const { id: running } = await queue.enqueue(workers.db, "long", null);
    await gate.reached;
    const database = await databaseName();
    await workers.sql(`alter database ${database} set default_transaction_read_only = on`);
    await workers.sql("select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1", [name]);
    await workers.sqlUntil(`select from pg_stat_activity where application_name = '${name}'`);
    await workers.sql("insert into queue.jobs (kind) values ('works')");
    gate.open();
    await workers.sql(`alter database ${database} reset default_transaction_read_only`);
    await events.until("job.completed", 2);
    expect((await workers.jobs()).map(({ status, attempts, errors }) => [status, attempts, errors.length])).toEqual([
      ["done", 1, 0],
      ["done", 1, 0],
    ]);
    expect(running).toBe("1");
  });

  async function databaseName(): Promise<string> {
    const [row] = await workers.sql<{ name: string }>("select quote_ident(current_database()) as name");
    return row?.name ?? "";
  }
});
