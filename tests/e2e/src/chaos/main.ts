import { parseArgs } from "node:util";
import { describeRun, isGreen } from "./chaos-report.js";
import { runChaos } from "./chaos-run.js";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "60" },
    /** Which faults come in which order. */
    seed: { type: "string", default: "1" },
    /** Jobs that the producers ask for in a second. */
    rate: { type: "string", default: "520" },
    /** Only faults whose name contains it. */
    only: { type: "string" },
    json: { type: "boolean", default: false },
  },
});
const about = { seconds: Number(values.seconds), seed: Number(values.seed) };
const result = await runChaos({
  ...about,
  jobsPerSecond: Number(values.rate),
  only: values.only,
  onProgress: (what) => console.error(what),
});
console.log(values.json ? JSON.stringify({ ...about, isGreen: isGreen(result), ...result }, undefined, 2) : describeRun(result, about));
process.exitCode = isGreen(result) ? 0 : 1;
