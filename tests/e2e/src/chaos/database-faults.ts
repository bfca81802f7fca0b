import { setTimeout as pause } from "node:timers/promises";
import { sql } from "kysely";
import pg from "pg";
import { askAgain } from "./ask-again.js";
import { applications, type ChaosDatabase } from "./chaos-queue.js";
import { type Fault, pastTheLeaseMs, snapshotFault } from "./fault.js";

/** What happens to the database, its sessions and its locks. */
export const databaseFaults: readonly Fault[] = [
  {
    name: "terminate random sessions",
    inject: (world, random) => terminateSessions(world.db, 0.2 + random() * 0.8),
  },
  {
    name: "restart PostgreSQL, fast",
    stopsEverybody: true,
    endsSnapshots: true,
    inject: (world) => world.server.restart("fast"),
  },
  {
    name: "restart PostgreSQL, immediate",
    stopsEverybody: true,
    endsSnapshots: true,
    inject: (world) => world.server.restart("immediate"),
  },
  {
    name: "the jobs table locked",
    stopsEverybody: true,
    async inject(world) {
      await world.db.transaction().execute(async (trx) => {
        await sql`lock table queue.jobs in access exclusive mode`.execute(trx);
        await pause(1_000);
      });
    },
  },
  {
    name: snapshotFault,
    isBackground: true,
    holdsSnapshot: true,
    async inject(world) {
      await world.db
        .transaction()
        .setIsolationLevel("repeatable read")
        .execute(async (trx) => {
          // Of no table, whose lock would be held as well.
          await sql`select pg_current_snapshot()`.execute(trx);
          await pause(world.snapshotMs);
          // Fails when the session was ended meanwhile: then no snapshot was held.
          await sql`select pg_current_snapshot()`.execute(trx);
        });
    },
  },
  {
    // Handlers take connections of their worker's pool: more of them, and for longer, than the worker can wait.
    name: "handlers hold the worker's pool",
    isBackground: true,
    async inject(world) {
      await world.placeOrder(Array.from({ length: 40 }, () => ({ kind: "greedy" as const, worksMs: 2_500 })));
      await pause(pastTheLeaseMs);
      // They hold it until the last of them has ended.
      while ((await askAgain(() => sql`select from queue.jobs where kind = 'greedy' limit 1`.execute(world.db))).rows.length > 0)
        await pause(200);
    },
  },
  {
    // Outsiders take every connection that the server has, and those of the workers as they lose them.
    name: "outsiders hold the server's connections",
    stopsEverybody: true,
    async inject(world) {
      const outsiders: pg.Client[] = [];
      const endsAt = performance.now() + pastTheLeaseMs;
      await world.db.connection().execute(async (own) => {
        let isFull = false;
        while (performance.now() < endsAt) {
          const refused = await connectMany(world.url, outsiders);
          if (refused > 0 && !isFull) await terminateSessions(own, 1);
          else if (refused > 0) await pause(10);
          isFull ||= refused > 0;
        }
      });
      await Promise.all(outsiders.map((outsider) => outsider.end()));
    },
  },
];

const connectedAtOnce = 10;

/** Adds to `clients` who got a connection; resolves to how many were refused. */
async function connectMany(url: string, clients: pg.Client[]): Promise<number> {
  const attempts = Array.from({ length: connectedAtOnce }, async () => {
    const client = new pg.Client({ connectionString: url, application_name: applications.outsider });
    client.on("error", () => {});
    await client.connect();
    clients.push(client);
  });
  return (await Promise.allSettled(attempts)).filter(({ status }) => status === "rejected").length;
}

/** Each session of a worker or producer with this probability. */
async function terminateSessions(db: ChaosDatabase, share: number): Promise<void> {
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name in (${sql.join([
       applications.worker,
       applications.listener,
       applications.transaction,
       applications.producer,
     ])}) and random() < ${share}`.execute(db);
}
