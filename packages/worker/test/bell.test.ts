import { describe, expect, test } from "vitest";
import { createQueue, job } from "@queue/core";
import { clientListener } from "./support/client-listener.js";
import { createGate } from "./support/gate.js";
import { useWorkers } from "./support/use-workers.js";

const workers = useWorkers();
const queue = createQueue({ jobs: { a: job(), mail: job({ lane: "mail" }) } });

/** The next poll is far away: only a ring wakes it. */
function sleeper() {
  return { queue, listener: clientListener(workers.database.url), pollInterval: "10m", handlers: { a: () => {}, mail: () => {} } } as const;
}

const keys = `from pg_locks where locktype = 'advisory' and mode = 'ShareLock'
  and database = (select oid from pg_database where datname = current_database())`;
const untilArmed = () => workers.sqlUntil(`select ${keys}`);
const untilMuted = () => workers.sqlUntil(`select where not exists (select ${keys})`);

/** More than it is worth to be rung for. */
async function flood(count: number): Promise<void> {
  const chain = async () => {
    for (let n = 0; n < count / 10; n++) await queue.enqueue(workers.db, "a", null);
  };
  await Promise.all(Array.from({ length: 10 }, chain));
}

describe("a worker that sleeps", () => {
  test("finds what was enqueued before it could be rung, and is committed after", async () => {
    const gate = createGate();
    const early = workers.db.transaction().execute(async (trx) => {
      const { id } = await queue.enqueue(trx, "a", null);
      await gate.pass();
      return id;
    });
    await gate.reached;
    const { events } = await workers.start(sleeper());
    await untilArmed();
    await events.untilFor((await queue.enqueue(workers.db, "mail", null)).id, "job.completed");
    gate.open();
    await events.untilFor(await early, "job.completed");
  });

  test("is rung for its lanes only", async () => {
    const listener = clientListener(workers.database.url);
    const { events } = await workers.start({ ...sleeper(), listener, lanes: ["mail"] });
    await untilArmed();
    await queue.enqueue(workers.db, "a", null);
    await events.untilFor((await queue.enqueue(workers.db, "mail", null)).id, "job.completed");
    expect(listener.heard.filter((payload) => !payload.endsWith(" mail"))).toEqual([]);
  });

  test("leaves no key behind when it stops", async () => {
    const { worker } = await workers.start(sleeper());
    await untilArmed();
    await worker.stop();
    // The server takes a moment to see that the connection has ended.
    await expect.poll(() => workers.sql(`select ${keys}`)).toEqual([]);
  });
});

describe("a worker that much comes for", () => {
  test("mutes the bell and works all of it; when little comes, it is rung again", async () => {
    const listener = clientListener(workers.database.url);
    const { events } = await workers.start({ ...sleeper(), listener });
    await untilArmed();
    const flooding = flood(2_000);
    await untilMuted();
    await flooding;
    await events.until("job.completed", 2_000, 30_000);
    expect(listener.heard.length).toBeLessThan(2_000);
    await untilArmed();
    const before = listener.heard.length;
    await events.untilFor((await queue.enqueue(workers.db, "a", null)).id, "job.completed");
    // It may have been found before the ring came.
    await expect.poll(() => listener.heard.length).toBe(before + 1);
  });

  test("begins jobs of a line that it does not know, and those that become due, without being rung", async () => {
    const { events } = await workers.start(sleeper());
    await untilArmed();
    let isOver = false;
    const chain = async () => {
      while (!isOver) await queue.enqueue(workers.db, "a", null);
    };
    const flooding = Promise.all(Array.from({ length: 4 }, chain));
    await untilMuted();
    const ids = [
      (await queue.enqueue(workers.db, "a", null, { lane: "new", priority: 1 })).id,
      (await queue.enqueue(workers.db, "mail", null, { delay: 300 })).id,
    ];
    for (const id of ids) await events.untilFor(id, "job.completed");
    isOver = true;
    await flooding;
    expect(ids.map((id) => events.typesFor(id))).toEqual(ids.map(() => ["job.started", "job.completed"]));
  });

  test("does not take the wake-ups from another one that sleeps", async () => {
    const busy = await workers.start({ ...sleeper(), lanes: ["default"] });
    await untilArmed();
    const flooding = flood(2_000);
    const other = await workers.start({ ...sleeper(), lanes: ["mail"] });
    await flooding;
    await other.events.untilFor((await queue.enqueue(workers.db, "mail", null)).id, "job.completed");
    await busy.events.until("job.completed", 2_000, 30_000);
    expect(other.events.of("job.completed")).toHaveLength(1);
  });
});
