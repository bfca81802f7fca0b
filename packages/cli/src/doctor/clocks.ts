import { showSpan } from "../output/instant.js";
import type { Check, DoctorContext, Finding } from "./check.js";

/** A machine that is busy answers late: the quickest of these says most. */
const looks = 5;

/** Whether the clocks of this machine and of the server differ, and whether the server's went back. */
export const clocks: Check = {
  name: "clocks",
  needsTables: false,
  async run(context) {
    const { differenceMs, uncertainMs } = await measure(context);
    const isApart = Math.abs(differenceMs) - uncertainMs > context.thresholds.clockMs;
    return isApart ? [apart(differenceMs)] : [];
  },
};

async function measure({ read }: DoctorContext) {
  let best = { differenceMs: 0, uncertainMs: Number.POSITIVE_INFINITY };
  for (let look = 0; look < looks; look++) {
    const sentAtMs = Date.now();
    const [server] = await read<{ ms: string }>("select (extract(epoch from pg_catalog.clock_timestamp()) * 1000)::text as ms");
    const heardAtMs = Date.now();
    const uncertainMs = (heardAtMs - sentAtMs) / 2;
    if (uncertainMs < best.uncertainMs) best = { differenceMs: (sentAtMs + heardAtMs) / 2 - Number(server?.ms), uncertainMs };
  }
  return best;
}

function apart(differenceMs: number): Finding {
  return {
    message: `The clock of this machine is ${showSpan(Math.abs(differenceMs))} ${differenceMs > 0 ? "ahead of" : "behind"} the server's.`,
    advice:
      "Only the server's decides when jobs are due, but a runAt that your code computes comes from here: let NTP set both, and use delay.",
  };
}
