import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { sql } from "kysely";
import { applications, type ChaosKind, jobsOf, openDatabase, type Order, queue, rowOf } from "./chaos-queue.js";
import { endWithParent } from "./end-with-parent.js";
import { seededRandom } from "./seeded-random.js";

const { CHAOS_URL: url, CHAOS_RATE: rate, CHAOS_SEED: seed } = process.env;
endWithParent();
if (url === undefined) throw new Error("CHAOS_URL says where to enqueue.");

class Rollback extends Error {}

const ordersAtOnce = 5;
let db = openDatabase(url, 1, applications.producer);
const random = seededRandom(Number(seed ?? 1));
let isStopping = false;
process.once("SIGTERM", () => {
  isStopping = true;
});

function newOrder(): Order {
  return { token: randomUUID(), jobs: kindsOfOrder().map((kind) => ({ kind, worksMs: workOf(kind) })) };
}

function kindsOfOrder(): readonly ChaosKind[] {
  const chance = random();
  if (chance < 0.04) return ["newer", "plain"];
  if (chance < 0.07) return ["hopeless", "plain"];
  return ["plain", "plain", "plain", "transactional", "once"];
}

/** Mostly short; now and then for about as long as a lease. */
function workOf(kind: ChaosKind): number {
  const isLong = random() < (kind === "transactional" ? 0.004 : 0.01);
  return Math.round(isLong ? 1_500 + random() * 2_000 : random() * 30);
}

/** A business transaction: orders and their jobs, all or nothing. Returns how many jobs it asked for. */
async function placeOrders(): Promise<number> {
  const orders = Array.from({ length: ordersAtOnce }, newOrder);
  const regretted = random() < 0.1 ? newOrder() : undefined;
  const isRepeated = random() < 0.1;
  const isRolledBack = random() < 0.1;
  const jobs = orders.flatMap(jobsOf);
  await db
    .transaction()
    .execute(async (trx) => {
      await trx.insertInto("orders").values(orders.map(rowOf)).execute();
      if (regretted !== undefined) {
        await sql`savepoint regret`.execute(trx);
        await trx.insertInto("orders").values(rowOf(regretted)).execute();
        await queue.enqueueMany(trx, jobsOf(regretted));
        await sql`rollback to savepoint regret`.execute(trx);
      }
      await queue.enqueueMany(trx, jobs);
      // The same again: a duplicate inserts nothing.
      if (isRepeated) await queue.enqueueMany(trx, jobs.slice(0, 3));
      if (isRolledBack) throw new Rollback("the business transaction changes its mind");
    })
    .catch((error: unknown) => {
      if (!(error instanceof Rollback)) reconnect(db);
    });
  return jobs.length;
}

/** Every failure is the application's to handle. Here the orders are not placed, and the connection, which may be silent, is given up. */
function reconnect(lost: typeof db): void {
  db = openDatabase(url ?? "", 1, applications.producer);
  lost.destroy().catch(() => {});
}

const msPerJob = 1_000 / Number(rate ?? 20);
/** What could not be placed during a fault comes after it, if it was not more than this. */
const mostLateMs = 3_000;
for (let dueAtMs = performance.now(); !isStopping;) {
  const jobs = await placeOrders();
  const nowMs = performance.now();
  dueAtMs = Math.max(dueAtMs + jobs * msPerJob, nowMs - mostLateMs);
  await pause(Math.max(0, dueAtMs - nowMs));
}
await Promise.race([db.destroy(), pause(1_000)]);
process.exit(0);
