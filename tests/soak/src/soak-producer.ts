import { randomUUID } from "node:crypto";
import type { EnqueueOptions } from "@queue/core";
import { mostJobsPerTransaction, type MixKind, pickKind, repeatedKeyShare, rollbackShare } from "./mix.js";
import { noteWarnings } from "./note-warnings.js";
import { answerSamples } from "./process-sample.js";
import { seededRandom } from "./seeded-random.js";
import { openDatabase, openPool, products, queue } from "./soak-queue.js";

const { SOAK_URL: url, SOAK_NAME: name = "producer", SOAK_RATE: rate, SOAK_SEED: seed } = process.env;
if (url === undefined) throw new Error("SOAK_URL says where to enqueue.");

class Rollback extends Error {}

const connections = 10;
const tickMs = 5;
const cancelAfterMs = 1_000;
const pool = openPool(url, connections, `soak ${name}`);
const db = openDatabase(pool);
const admin = queue.admin(db);
const random = seededRandom(Number(seed));
/** Transactions, of which some are rolled back: the rate is that of the jobs that arrive. */
const perMs = Number(rate) / 1_000 / ((1 + mostJobsPerTransaction) / 2) / (1 - rollbackShare);

let isStopping = false;
let underWay = 0;
let troubles: string[] = [];
let lastKey = randomUUID() as string;

process.once("SIGTERM", () => (isStopping = true));
noteWarnings((warning) => troubles.push(`${name}: ${warning}`));
answerSamples(pool, () => {
  const told = troubles;
  troubles = [];
  return { name, startLatency: [], troubles: told };
});

function optionsOf(kind: MixKind): EnqueueOptions {
  switch (kind) {
    case "keyedForTime":
      return { key: nextKey(), keyHolds: "20s" };
    case "keyedUntilStarted":
      return { key: nextKey(), keyHolds: "until-started" };
    case "keyedUntilEnded":
      return { key: nextKey(), keyHolds: "until-ended" };
    case "delayed":
      return { delay: "2s" };
    case "cancelledWaiting":
      return { delay: "30s" };
    case "plain":
    case "transactional":
    case "once":
    case "retried":
    case "snoozed":
    case "cancelledRunning":
    case "redriven":
      return {};
  }
}

function nextKey(): string {
  if (random() >= repeatedKeyShare) lastKey = randomUUID();
  return lastKey;
}

/** An order, its stock, and its jobs: all of it, or nothing. */
async function placeOrder(): Promise<void> {
  const order = randomUUID();
  const product = Math.floor(random() * products);
  const items = Array.from({ length: 1 + Math.floor(random() * mostJobsPerTransaction) }, () => pickKind(random)).map((kind) => ({
    kind,
    payload: { order, product },
    options: optionsOf(kind),
  }));
  const isRolledBack = random() < rollbackShare;
  const results = await db.transaction().execute(async (trx) => {
    const written = await queue.enqueueMany(trx, items);
    const jobs = written.filter(({ inserted }) => inserted).length;
    await trx.insertInto("orders").values({ id: order, product, jobs }).execute();
    if (isRolledBack) throw new Rollback("the business transaction changes its mind");
    return written;
  });
  for (const [index, { id, inserted }] of results.entries()) {
    const kind = items[index]?.kind;
    if (inserted && (kind === "cancelledWaiting" || kind === "cancelledRunning")) setTimeout(() => void cancel(id), cancelAfterMs);
  }
}

async function cancel(id: string): Promise<void> {
  if (isStopping) return;
  await admin.cancel(id).catch((error: unknown) => troubles.push(`${name}: cancel: ${String(error)}`));
}

/** Open loop: what is due is begun, whatever the others take; beyond the pool's connections it falls behind, and that shows. */
async function produce(): Promise<void> {
  let due = 0;
  let lastAt = performance.now();
  while (!isStopping) {
    await new Promise((resolve) => setTimeout(resolve, tickMs));
    const now = performance.now();
    due = Math.min(due + (now - lastAt) * perMs, 1_000 * perMs);
    lastAt = now;
    for (; due >= 1 && underWay < connections; due--) {
      underWay += 1;
      void placeOrder()
        .catch((error: unknown) => {
          if (!(error instanceof Rollback)) troubles.push(`${name}: ${String(error)}`);
        })
        .finally(() => (underWay -= 1));
    }
  }
  while (underWay > 0) await new Promise((resolve) => setTimeout(resolve, tickMs));
}

await produce();
await db.destroy();
process.disconnect();
