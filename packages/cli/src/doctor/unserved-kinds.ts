import type { Check } from "./check.js";

/** Kinds that wait, and that no living worker has a handler for. */
export const unservedKinds: Check = {
  name: "kinds without a worker",
  needsTables: true,
  async run({ admin }) {
    const { kindsWithoutWorker } = await admin.health();
    return kindsWithoutWorker.map((kind) => ({
      message: `Jobs of kind ${JSON.stringify(kind)} wait, and no living worker has a handler for it in their lane.`,
      advice: "Start a worker that has one and serves the lane, or cancel the jobs; they wait unharmed.",
    }));
  },
};
