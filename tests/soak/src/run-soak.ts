import { setTimeout as pause } from "node:timers/promises";
import { HeldSnapshot } from "./held-snapshot.js";
import type { Hold, Recording, Sample } from "./sample.js";
import type { SoakOptions } from "./soak-options.js";
import { SoakWorld } from "./soak-world.js";

const sampleEveryMs = 10_000;
const minuteMs = 60_000;

/** Runs the load for as long as the options say, samples it, and tells each sample as it comes. */
export async function runSoak(options: SoakOptions, onSample: (soFar: Recording) => void): Promise<Recording> {
  const { minutes, holdMinutes, ratePerSecond } = options;
  const lengthMs = minutes * minuteMs;
  const plannedHold = holdMinutes > 0 ? middleOf(lengthMs, holdMinutes * minuteMs) : undefined;
  const world = await SoakWorld.begin(options);
  const samples: Sample[] = [];
  let snapshot: HeldSnapshot | undefined;
  let heldFromMs: number | undefined;
  let heldToMs = Number.POSITIVE_INFINITY;
  const holdOf = (): Hold | undefined => (heldFromMs === undefined ? undefined : { fromMs: heldFromMs, toMs: heldToMs });
  try {
    const beganAt = performance.now();
    const elapsedMs = () => performance.now() - beganAt;
    for (let dueMs = sampleEveryMs; dueMs <= lengthMs; dueMs += sampleEveryMs) {
      await pause(dueMs - elapsedMs());
      if (plannedHold !== undefined && snapshot === undefined && heldFromMs === undefined && dueMs >= plannedHold.fromMs) {
        heldFromMs = elapsedMs();
        snapshot = await HeldSnapshot.take(world.url);
      }
      if (plannedHold !== undefined && snapshot !== undefined && dueMs >= plannedHold.toMs) {
        await snapshot.release();
        snapshot = undefined;
        heldToMs = elapsedMs();
      }
      samples.push(await world.sample(elapsedMs()));
      onSample({ ratePerSecond, samples, hold: holdOf() });
      await world.redriveDead();
    }
    return { ratePerSecond, samples, hold: holdOf(), account: await world.account() };
  } finally {
    await snapshot?.release();
    await world.end();
  }
}

/** On the samples' beat, so that the minute after the release ends with a sample. */
function middleOf(lengthMs: number, holdMs: number) {
  const fromMs = Math.max(sampleEveryMs, Math.round((lengthMs - holdMs) / 2 / sampleEveryMs) * sampleEveryMs);
  return { fromMs, toMs: fromMs + holdMs };
}
