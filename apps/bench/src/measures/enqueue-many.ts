import { preload, resetQueue } from "../bench-queue.js";
import type { Measure } from "./measure.js";
import { rawInsert } from "./raw-insert.js";

/** `enqueueMany` in batches of 10,000, beside the bare INSERT of the same rows. */
export const enqueueMany: Measure = {
  name: "enqueue-many",
  async run({ db, url, jobs }) {
    await resetQueue(db);
    const oursMs = await preload(db, jobs);
    await resetQueue(db);
    const rawMs = await rawInsert(url, jobs);
    return [
      { name: "enqueueMany", unit: "jobs/s", value: (jobs / oursMs) * 1_000 },
      { name: "bare INSERT … SELECT unnest", unit: "jobs/s", value: (jobs / rawMs) * 1_000 },
    ];
  },
};
