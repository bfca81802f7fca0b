import type { Recording } from "../sample.js";
import { windowsOf } from "../windows.js";
import { judgeFlow, judgeStart } from "./judge-flow.js";
import { judgeAccount } from "./judge-account.js";
import { judgeBackends, judgeProcesses } from "./judge-processes.js";
import { judgeDeadRows, judgeTables } from "./judge-tables.js";
import { judgeTroubles } from "./judge-troubles.js";
import type { Verdict } from "./verdict.js";

/** Everything that a soak has to show. */
export function judgeRun(recording: Recording): readonly Verdict[] {
  const { samples, hold, ratePerSecond } = recording;
  const windows = windowsOf(samples, hold);
  return [
    ...judgeFlow(windows, ratePerSecond),
    ...judgeStart(windows),
    ...judgeProcesses(samples),
    judgeBackends(samples),
    ...judgeTables(recording),
    judgeDeadRows(recording),
    judgeAccount(recording),
    judgeTroubles(samples),
  ];
}
