import { createQueue, job } from "@queue/core";

export const lanes = ["default", "mail"] as const;
export type Lane = (typeof lanes)[number];

/** Few attempts, so that jobs die often; one that the archive does not keep. */
export const queue = createQueue({
  jobs: {
    index: job({ maxAttempts: 2 }),
    receipt: job({ maxAttempts: 3, lane: "mail" }),
    ping: job({ maxAttempts: 1, keep: false }),
  },
});

export type Kind = keyof typeof queue.jobs;
export const kinds = ["index", "receipt", "ping"] as const satisfies readonly Kind[];

export const maxAttemptsOf = (kind: Kind): number => queue.jobs[kind].options.maxAttempts ?? 0;
export const laneOf = (kind: Kind): string => queue.jobs[kind].options.lane ?? "default";
/** Whether anything is left in the tables of a job that was done or cancelled. */
export const isKept = (kind: string): boolean => queue.jobs[kind as Kind].options.keep !== false;

/** What each worker has handlers for, and which lanes it serves, in this order. */
export const workers = {
  w1: { kinds: ["index", "receipt", "ping"], lanes: ["default", "mail"] },
  w2: { kinds: ["index", "ping"], lanes: ["mail", "default"] },
} as const satisfies Readonly<Record<string, { readonly kinds: readonly Kind[]; readonly lanes: readonly Lane[] }>>;

export type WorkerName = keyof typeof workers;
