import { setTimeout as pause } from "node:timers/promises";
import { sql } from "kysely";
import type { ChaosDatabase } from "./chaos-queue.js";
import { ChaosWorld } from "./chaos-world.js";
import { loadEvidence, noteIdleSessions } from "./evidence.js";
import { askAgain } from "./ask-again.js";
import { databaseFaults } from "./database-faults.js";
import { injectFaults } from "./inject-faults.js";
import { networkFaults } from "./network-faults.js";
import { historyOf, judge, type Verdict } from "./oracle.js";
import { processFaults } from "./process-faults.js";
import { seededRandom } from "./seeded-random.js";

export interface ChaosOptions {
  readonly seconds: number;
  readonly seed: number;
  readonly jobsPerSecond: number;
  /** Only faults whose name contains it. */
  readonly only: string | undefined;
  /** Hears what goes on. */
  readonly onProgress: (what: string) => void;
}

export interface ChaosResult extends Verdict {
  /** What processes did that they should not. */
  readonly misbehaviour: readonly string[];
  /** Faults that could not be injected, and are not counted. */
  readonly notInjected: readonly string[];
  /** Of the jobs that a violation is about, some. */
  readonly histories: Readonly<Record<string, readonly string[]>>;
  /** How often the sessions were looked at. */
  readonly looks: number;
  /** From the end of the last fault until each worker had claimed again. */
  readonly allWorkAgainMs: number;
}

const settleMs = 120_000;
const worksAgainMs = 30_000;
const lookEveryMs = 200;
const mostHistories = 20;

/** A run from an empty server to the verdict. */
export async function runChaos({ seconds, seed, jobsPerSecond, only, onProgress }: ChaosOptions): Promise<ChaosResult> {
  // Five minutes in a long run, and as much of a short one.
  const snapshotMs = Math.min(300_000, (seconds * 1_000) / 4);
  const world = await ChaosWorld.begin({ jobsPerSecond, seed, snapshotMs });
  const { db } = world;
  const watch = watchSessions(db);
  try {
    await untilAllWork(world, db);
    const { injected, failed } = await injectFaults({
      world,
      faults: [...processFaults, ...databaseFaults, ...networkFaults].filter(({ name }) => only === undefined || name.includes(only)),
      forMs: seconds * 1_000,
      random: seededRandom(seed),
    });
    onProgress(`${injected.length} faults injected, ${failed.length} could not be`);
    const allWorkAgainMs = await untilAllWork(world, db);
    await world.stopProducing();
    await untilSettled(db);
    await world.stopWorking();
    const looks = await watch.end();
    onProgress("everything has settled; the oracle reads");
    await loadEvidence(db, { folder: world.folder, faults: injected, ends: world.ends });
    const verdict = await judge(db);
    const histories = await historiesOf(db, verdict);
    return { ...verdict, misbehaviour: world.misbehaviour, notInjected: failed, histories, looks, allWorkAgainMs };
  } finally {
    await watch.end();
    await world.end();
  }
}

/** Looks at the sessions again and again; while there is no database, there is nothing to see. */
function watchSessions(db: ChaosDatabase): { end(): Promise<number> } {
  let isOver = false;
  let looks = 0;
  const watching = (async () => {
    while (!isOver) {
      await noteIdleSessions(db).then(
        () => (looks += 1),
        () => {},
      );
      await pause(lookEveryMs);
    }
  })();
  return {
    async end() {
      isOver = true;
      await watching;
      return looks;
    },
  };
}

/** Workers survive: each has to claim again, while there still is work for all. */
async function untilAllWork({ workers, misbehaviour }: ChaosWorld, db: ChaosDatabase): Promise<number> {
  const began = performance.now();
  const clock = await askAgain(() => sql<{ now: string }>`select clock_timestamp()::text as now`.execute(db));
  const since = clock.rows[0]?.now;
  for (;;) {
    const { rows } = await askAgain(() =>
      sql<{ pid: number }>`select distinct pid from chaos.changes where is_claim and at > ${since}::timestamptz`.execute(db),
    );
    const working = new Set(rows.map(({ pid }) => pid));
    const idle = workers.filter(({ pid }) => !working.has(pid));
    const passedMs = performance.now() - began;
    if (idle.length === 0) return passedMs;
    if (passedMs > worksAgainMs) {
      for (const { pid } of idle) misbehaviour.push(`worker ${pid} lives and claims nothing, ${worksAgainMs} ms after the last fault`);
      return passedMs;
    }
    await pause(100);
  }
}

async function untilSettled(db: ChaosDatabase): Promise<void> {
  const deadline = performance.now() + settleMs;
  while (performance.now() < deadline) {
    const { rows } = await askAgain(() => sql`select from queue.jobs where status <> 'dead' limit 1`.execute(db));
    if (rows.length === 0) return;
    await pause(250);
  }
}

async function historiesOf(db: ChaosDatabase, { violations, slowest }: Verdict): Promise<Record<string, readonly string[]>> {
  const ids = new Set<string>();
  for (const { findings } of violations) for (const { job_id: id } of findings.slice(0, 3)) if (id !== null) ids.add(id);
  for (const { job_id: id } of slowest) ids.add(id);
  const histories: Record<string, readonly string[]> = {};
  for (const id of [...ids].slice(0, mostHistories)) histories[id] = await historyOf(db, id);
  return histories;
}
