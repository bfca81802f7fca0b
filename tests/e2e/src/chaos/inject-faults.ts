import { setTimeout as pause } from "node:timers/promises";
import type { ChaosWorld } from "./chaos-world.js";
import type { InjectedFault } from "./evidence.js";
import { times } from "./chaos-queue.js";
import type { Fault } from "./fault.js";
import { monotonicMs } from "./run-log.js";
import { shuffled } from "./seeded-random.js";

export interface InjectionOptions {
  readonly world: ChaosWorld;
  readonly faults: readonly Fault[];
  readonly forMs: number;
  readonly random: () => number;
}

/** At most this share of a run has a snapshot open, because PostgreSQL is not restarted meanwhile. */
const snapshotShare = 0.5;

export interface Injection {
  readonly injected: readonly InjectedFault[];
  /** Those that went wrong themselves, and are not counted: the session of a snapshot was ended, say. */
  readonly failed: readonly string[];
}

/** A long run has time for what comes after a fault; a short one has to come round. */
const longMs = 60_000;
/** How long after a death its jobs must be back. */
const recoveredMs = times.leaseMs + times.sweepMs + 1_000;

/** Between two faults. */
const gapMs = (forMs: number, random: () => number) => (forMs < longMs ? 100 + random() * 500 : 500 + random() * 2_500);

/** Injects faults, every one in its turn and in a new order each time, and says what was done. */
export async function injectFaults({ world, faults, forMs, random }: InjectionOptions): Promise<Injection> {
  const injected: InjectedFault[] = [];
  const underWay = new Map<Fault, Promise<void>>();
  const failed: string[] = [];
  const tried = new Set<Fault>();
  let snapshotsMs = 0;
  const endsAt = performance.now() + forMs;

  const isPossible = (fault: Fault) => {
    if (underWay.has(fault)) return false;
    if (fault.endsSnapshots) return ![...underWay.keys()].some(({ holdsSnapshot }) => holdsSnapshot);
    return !fault.holdsSnapshot || snapshotsMs + world.snapshotMs <= forMs * snapshotShare;
  };
  const inject = async (fault: Fault) => {
    const beganAtMs = monotonicMs();
    try {
      const pid = (await fault.inject(world, random)) ?? undefined;
      const { name, stopsEverybody = false } = fault;
      injected.push({ name, pid, stopsEverybody, beganAtMs, endedAtMs: monotonicMs() });
    } catch (error) {
      failed.push(`${fault.name}: ${String(error)}`);
    }
  };

  const isAlone = (fault: Fault) =>
    fault.isMeasured === true && forMs >= longMs && injected.filter(({ name }) => name === fault.name).length % 2 === 0;
  const others = () => [...underWay].flatMap(([{ holdsSnapshot }, end]) => (holdsSnapshot === true ? [] : [end]));

  let waiting: Fault[] = [];
  // Also when the time was too short: each of them at least once.
  const isOver = () => performance.now() >= endsAt && faults.every((fault) => tried.has(fault));
  while (!isOver()) {
    let next = waiting.find(isPossible);
    if (next === undefined) {
      waiting = [...waiting, ...shuffled(faults, random).filter((fault) => !waiting.includes(fault))];
      next = waiting.find(isPossible);
    }
    if (next !== undefined) {
      const fault = next;
      waiting = waiting.filter((other) => other !== fault);
      tried.add(fault);
      if (fault.holdsSnapshot) snapshotsMs += world.snapshotMs;
      const alone = isAlone(fault);
      if (alone) await Promise.all(others());
      const injection = inject(fault).then(() => (alone ? pause(recoveredMs) : undefined));
      if (fault.isBackground)
        underWay.set(
          fault,
          injection.finally(() => underWay.delete(fault)),
        );
      else await injection;
    }
    await pause(gapMs(forMs, random));
  }
  await Promise.all(underWay.values());
  return { injected: injected.sort((a, b) => a.beganAtMs - b.beganAtMs), failed };
}
