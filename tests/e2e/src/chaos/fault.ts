import { sql } from "kysely";
import { askAgain } from "./ask-again.js";
import type { ChaosWorld } from "./chaos-world.js";
import { times } from "./chaos-queue.js";
import type { SupervisedProcess } from "./processes.js";
import { shuffled } from "./seeded-random.js";

/** Something that goes wrong, and is over when `inject` resolves. */
export interface Fault {
  readonly name: string;
  /** While it lasts no worker can act, and the recovery of a job is counted from its end. */
  readonly stopsEverybody?: true;
  /** Others are injected meanwhile. */
  readonly isBackground?: true;
  /** It ends every session, also one that holds a snapshot: they take turns. */
  readonly endsSnapshots?: true;
  readonly holdsSnapshot?: true;
  /** What it does to jobs is measured: every second time nothing else goes wrong until they must be back. */
  readonly isMeasured?: true;
  /** Resolves to the worker that was hit, if it was one. */
  inject(world: ChaosWorld, random: () => number): Promise<number | void>;
}

/** It slows claims down, at most: it stands in the way of no restart. */
export const snapshotFault = "a snapshot held open";

/** Longer than a lease, a sweep and the start of what was lost. */
export const pastTheLeaseMs = times.leaseMs + times.sweepMs + 500;

/** One that runs a job at this moment, if there is one: nothing is lost with the others. */
export async function busyWorker({ workers, db }: ChaosWorld, random: () => number): Promise<SupervisedProcess> {
  const { rows } = await askAgain(() =>
    sql<{ pid: number }>`
      select distinct split_part(worker, ':', 2)::int as pid from queue.jobs where status = 'running' and locked_until > now()`.execute(db),
  );
  const inOrder = shuffled(workers, random);
  const worker = inOrder.find(({ pid }) => rows.some((row) => row.pid === pid)) ?? inOrder[0];
  if (worker === undefined) throw new Error("There is no worker.");
  return worker;
}
