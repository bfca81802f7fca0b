import { type Kysely, sql } from "kysely";
import type { Database } from "@shop/database";

/** The jobs of the whole queue, counted by what a person wants to know. */
export interface JobNumbers {
  /** Due, or due later for the first time. */
  readonly waiting: number;
  readonly running: number;
  /** Between two attempts. */
  readonly retrying: number;
  readonly dead: number;
  /** In the last 24 hours. */
  readonly done: number;
}

/** Counting may take this share of the time: in a shop with many jobs it is done more seldom. */
const countingShare = 1 / 20;

/**
 * A reader of the numbers, for any number of pages that ask once a second. What it has counted is good for twenty times as
 * long as the count took: for some milliseconds in a small shop, for two seconds at 600,000 jobs a day.
 */
export function createNumbersReader(db: Kysely<Database>): () => Promise<JobNumbers> {
  let counted: Promise<JobNumbers> | undefined;
  let goodUntilMs = 0;
  return () => {
    if (counted === undefined || performance.now() >= goodUntilMs) {
      goodUntilMs = Number.POSITIVE_INFINITY;
      counted = count();
    }
    return counted;
  };

  async function count(): Promise<JobNumbers> {
    const startedAtMs = performance.now();
    try {
      return await countJobs(db);
    } catch (error) {
      counted = undefined;
      throw error;
    } finally {
      const endedAtMs = performance.now();
      goodUntilMs = endedAtMs + (endedAtMs - startedAtMs) / countingShare;
    }
  }
}

/**
 * Two counts: over what is alive, and over what was done in the last 24 hours, for which the archive has a partition per day.
 * A count over all that was ever done would grow with the shop.
 */
async function countJobs(db: Kysely<Database>): Promise<JobNumbers> {
  const { waiting, running, retrying, dead, done } = await db
    .selectFrom("queue.jobs")
    .select(({ fn, selectFrom }) => [
      fn.countAll().filterWhere("status", "in", ["queued", "waiting"]).filterWhere("attempts", "=", 0).as("waiting"),
      fn.countAll().filterWhere("status", "=", "running").as("running"),
      fn.countAll().filterWhere("status", "=", "queued").filterWhere("attempts", ">", 0).as("retrying"),
      fn.countAll().filterWhere("status", "=", "dead").as("dead"),
      selectFrom("queue.jobs_archive as a")
        .where("a.status", "=", "done")
        .where("a.finished_at", ">", sql<Date>`now() - interval '24 hours'`)
        .select(({ fn: count }) => count.countAll().as("done"))
        .as("done"),
    ])
    .executeTakeFirstOrThrow();
  return { waiting: Number(waiting), running: Number(running), retrying: Number(retrying), dead: Number(dead), done: Number(done) };
}
