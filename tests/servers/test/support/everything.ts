import { type Kysely, sql, type Transaction } from "kysely";
import { expect } from "vitest";
import { createQueue, job, type Listener } from "@queue/core";
import { createWorker, snooze, type WorkerEvent } from "@queue/worker";
import { recordLogger } from "./recorded-logger.js";

export interface EverythingOptions {
  readonly schema: string;
  /** Whose sessions the worker has. */
  readonly db: Kysely<unknown>;
  /** Enqueues, and operates. @default db */
  readonly producer?: Kysely<unknown> | undefined;
  readonly listener?: Listener | undefined;
}

/** What JSON, encodings and escapes could make something else of. */
export const payload = { text: `äß€ 😀 \\ ' " \t $1 ? {} 2026-11-29`, numbers: [0.1, 1e21, -0.5, 9_007_199_254_740_991], nothing: null };

/** What is left of everything when all went well. */
export const everything = {
  ledger: ["written", "written"],
  jobs: [
    "cancelled: cancelled, 1",
    "effect: done, 1",
    "fails: done, 1",
    "other lane: done, 1",
    "plain: done, 1",
    "plain: done, 1",
    "snoozes: done, 1",
    "write: done, 1",
  ],
  payloads: [payload, payload],
  lastError: "no 😀",
  errors: [],
  warnings: ["A job is dead: it will not run again by itself."],
};

/**
 * Everything that an application, a worker and an operator do, once: jobs in committed and rolled-back transactions, keys,
 * transactional handlers over several heartbeats, effects, failures, dead letters, redrives, snoozes, cancels, lanes.
 */
export async function doEverything({ schema, db, producer = db, listener }: EverythingOptions) {
  const queue = createQueue({
    schema,
    jobs: {
      plain: job<typeof payload>(),
      write: job(),
      effect: job(),
      fails: job({ maxAttempts: 1 }),
      "not kept": job({ keep: false }),
      snoozes: job(),
      cancelled: job(),
      "other lane": job({ lane: "other" }),
    },
  });
  const events: WorkerEvent[] = [];
  const payloads: unknown[] = [];
  const ledger = sql.table(`${schema}.ledger`);
  let isMended = false;
  let hasSnoozed = false;
  const logger = recordLogger();
  const worker = createWorker({
    queue,
    db,
    listener,
    logger,
    onEvent: (event) => void events.push(event),
    concurrency: 4,
    pollInterval: 25,
    heartbeat: 500,
    lease: 5_000,
    handlers: {
      plain: (plain) => void payloads.push(plain.payload),
      write: {
        transactional: true,
        run: async ({ id }, { trx }) => {
          await sql`insert into ${ledger} values ('written')`.execute(trx);
          await untilExtended(id);
          await sql`insert into ${ledger} values ('written')`.execute(trx);
        },
      },
      effect: async (_job, { once }) => void (await once("mail", () => {})),
      fails: () => {
        if (!isMended) throw new Error("no 😀");
      },
      "not kept": () => {},
      snoozes: () => {
        if (hasSnoozed) return;
        hasSnoozed = true;
        return snooze(1);
      },
      cancelled: (_job, { signal }) =>
        new Promise<void>((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error))),
      "other lane": () => {},
    },
  });
  const admin = queue.admin(producer);
  const count = (type: WorkerEvent["type"]) => events.filter((event) => event.type === type).length;
  const told = (type: WorkerEvent["type"], times: number) => expect.poll(() => count(type), { timeout: 15_000 }).toBe(times);
  /** The lease of the job has been extended. */
  async function untilExtended(id: string): Promise<void> {
    const leases = new Set<string | undefined>();
    const look = sql<{ until: string }>`select locked_until::text as until from ${sql.table(`${schema}.jobs`)} where id = ${id}::bigint`;
    await expect.poll(async () => leases.add((await look.execute(producer)).rows[0]?.until).size, { timeout: 15_000 }).toBeGreaterThan(1);
  }

  await worker.start();
  try {
    const { id } = await inTransaction(producer, (trx) => queue.enqueue(trx, "plain", payload, { key: "once 😀" }));
    expect(await queue.enqueue(producer, "plain", payload, { key: "once 😀" })).toEqual({ id, inserted: false });
    await expect(
      inTransaction(producer, async (trx) => {
        await queue.enqueue(trx, "plain", payload);
        throw new Error("rolled back");
      }),
    ).rejects.toThrow("rolled back");
    await queue.enqueueMany(producer, [
      { kind: "write", payload: null },
      { kind: "effect", payload: null },
      { kind: "not kept", payload: null },
      { kind: "snoozes", payload: null },
      { kind: "plain", payload, options: { delay: 100 } },
    ]);
    await told("job.completed", 6);

    const failing = await queue.enqueue(producer, "fails", null);
    await told("job.dead", 1);
    const lastError = (await admin.job(failing.id))?.lastError;
    isMended = true;
    expect(await admin.redrive({ kind: "fails" })).toMatchObject({ count: 1 });
    await told("job.completed", 7);

    const cancelled = await queue.enqueue(producer, "cancelled", null);
    await expect.poll(async () => (await admin.job(cancelled.id))?.status, { timeout: 15_000 }).toBe("running");
    await admin.cancel(cancelled.id);
    await told("job.cancelled", 1);

    await admin.pause("other");
    const other = await queue.enqueue(producer, "other lane", null);
    expect(await admin.health()).toMatchObject({
      lanes: expect.arrayContaining([expect.objectContaining({ lane: "other", paused: true })]),
    });
    expect((await admin.job(other.id))?.status).toBe("queued");
    await admin.resume("other");
    await told("job.completed", 8);

    const { items } = await admin.jobs({ limit: 100 });
    const { rows } = await sql<{ entry: string }>`select entry from ${ledger}`.execute(producer);
    return {
      ledger: rows.map(({ entry }) => entry),
      jobs: items.map(({ kind, status, attempts }) => `${kind}: ${status}, ${attempts}`).toSorted(),
      payloads,
      lastError,
      errors: events.filter(({ type }) => type === "worker.error" || type === "job.lease-lost"),
      warnings: logger.warnings,
    };
  } finally {
    await worker.stop({ grace: 0 });
  }
}

function inTransaction<T>(db: Kysely<unknown>, work: (trx: Transaction<unknown>) => Promise<T>): Promise<T> {
  return db.transaction().execute(work);
}
