import { setTimeout as pause } from "node:timers/promises";
import { sql } from "kysely";
import { times } from "./chaos-queue.js";
import type { ChaosWorld } from "./chaos-world.js";

/** Something that goes wrong, and is over when `inject` resolves. */
export interface Fault {
  readonly name: string;
  inject(world: ChaosWorld, random: () => number): Promise<void>;
}

function anyOf<T>(items: readonly T[], random: () => number): T {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error("There is nothing to choose from.");
  return item;
}

const pastTheLeaseMs = times.leaseMs + times.sweepMs + 500;

export const faults: readonly Fault[] = [
  {
    name: "kill -9 a worker",
    async inject(world, random) {
      world.deaths.push(anyOf(world.workers, random).kill());
      await pause(300);
    },
  },
  {
    name: "SIGTERM a worker",
    async inject(world, random) {
      anyOf(world.workers, random).signal("SIGTERM");
      await pause(300);
    },
  },
  {
    name: "freeze a worker past its lease",
    async inject(world, random) {
      const worker = anyOf(world.workers, random);
      worker.signal("SIGSTOP");
      await pause(pastTheLeaseMs);
      worker.signal("SIGCONT");
    },
  },
  {
    name: "terminate random sessions",
    async inject(world, random) {
      await sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and application_name like 'chaos %' and application_name <> 'chaos oracle'
          and random() < ${0.2 + random() * 0.8}`.execute(world.db);
    },
  },
  {
    name: "restart PostgreSQL, fast",
    inject: (world) => world.server.restart("fast"),
  },
  {
    name: "crash PostgreSQL",
    inject: (world) => world.server.restart("immediate"),
  },
  {
    name: "network half open",
    async inject(world) {
      world.proxy.goHalfOpen();
      await pause(pastTheLeaseMs);
      world.proxy.recover();
    },
  },
  {
    name: "network refuses",
    async inject(world) {
      world.proxy.refuse();
      await pause(1_000);
      world.proxy.recover();
    },
  },
  {
    name: "table locked",
    async inject(world) {
      await world.db.transaction().execute(async (trx) => {
        await sql`set local lock_timeout = '5s'`.execute(trx);
        await sql`lock table queue.jobs in access exclusive mode`.execute(trx);
        await pause(1_000);
      });
    },
  },
  {
    name: "snapshot held open",
    async inject(world) {
      await world.db
        .transaction()
        .setIsolationLevel("repeatable read")
        .execute(async (trx) => {
          await sql`select count(*) from queue.jobs`.execute(trx);
          await pause(4_000);
        });
    },
  },
  {
    name: "a worker's clock an hour off",
    async inject(world, random) {
      const worker = world.addWorker({ CHAOS_CLOCK_OFF_MS: String(random() < 0.5 ? 3_600_000 : -3_600_000) });
      await pause(3_000);
      await world.removeWorker(worker);
    },
  },
  {
    name: "rolling deploy",
    async inject(world) {
      const worker = world.addWorker({ CHAOS_RELEASE: "new" });
      await pause(2_000);
      await world.removeWorker(worker);
    },
  },
];
