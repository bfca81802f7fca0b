/**
 * What the producers enqueue, in parts of a thousand: the one place that says how a soak's load is made up. Kinds are those of
 * `soak-queue.ts`.
 */
export const mix = {
  plain: 560,
  transactional: 150,
  once: 50,
  /** Keys, with each way to release them; every tenth enqueue repeats a key that may still be held. */
  keyedForTime: 50,
  keyedUntilStarted: 50,
  keyedUntilEnded: 50,
  /** Fails once, then succeeds. */
  retried: 40,
  snoozed: 20,
  delayed: 20,
  /** Cancelled by its producer while it waits, or while it runs. */
  cancelledWaiting: 4,
  cancelledRunning: 4,
  /** Dies at once; the operator redrives it, and then it succeeds. */
  redriven: 2,
} as const;

export type MixKind = keyof typeof mix;

/** Of so many business transactions one rolls back. */
export const rollbackShare = 0.05;
/** Of so many enqueues with a key, one gives a key that was used shortly before. */
export const repeatedKeyShare = 0.1;
/** A business transaction enqueues from one job to so many: three on average, as an order of the shop does. */
export const mostJobsPerTransaction = 5;

const kinds = Object.keys(mix) as MixKind[];
const total = kinds.reduce((sum, kind) => sum + mix[kind], 0);

/** A kind, as often as its share says; `random` gives a number from 0 up to 1. */
export function pickKind(random: () => number): MixKind {
  let rest = random() * total;
  for (const kind of kinds) {
    rest -= mix[kind];
    if (rest < 0) return kind;
  }
  return "plain";
}
