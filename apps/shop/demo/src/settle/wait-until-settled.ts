import { setTimeout as delay } from "node:timers/promises";
import type { Kysely } from "kysely";
import type { Database } from "@shop/database";

const everyMs = 50;

export interface SettleOptions {
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
}

/** Resolves when no job of these orders is open any more. False: the deadline came first. @throws when the signal aborts */
export async function waitUntilSettled(
  db: Kysely<Database>,
  orderIds: readonly string[],
  { deadlineMs, signal }: SettleOptions,
): Promise<boolean> {
  const untilMs = performance.now() + deadlineMs;
  while ((await countOpen(db, orderIds)) > 0) {
    if (performance.now() > untilMs) return false;
    await delay(everyMs, undefined, { signal });
  }
  return true;
}

async function countOpen(db: Kysely<Database>, orderIds: readonly string[]): Promise<number> {
  const { count } = await db
    .selectFrom("queue.jobs")
    .select(({ fn }) => fn.countAll<string>().as("count"))
    .where("idempotency_key", "in", [...orderIds])
    .where("status", "<>", "dead")
    .executeTakeFirstOrThrow();
  return Number(count);
}
