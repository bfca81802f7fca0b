import type { Mutant } from "./mutant.js";
import { archiveMutants } from "./mutants/archive.js";
import { bellMutants } from "./mutants/bell.js";
import { claimMutants } from "./mutants/claim.js";
import { cursorMutants } from "./mutants/cursor.js";
import { enqueueMutants } from "./mutants/enqueue.js";
import { fenceMutants } from "./mutants/fence.js";
import { keyMutants } from "./mutants/keys.js";
import { leaseMutants } from "./mutants/lease.js";
import { planMutants } from "./mutants/plans.js";
import { runMutants } from "./mutants/run.js";
import { settleMutants } from "./mutants/settle.js";
import { stopMutants } from "./mutants/stop.js";
import { wakeUpMutants } from "./mutants/wake-up.js";

export const allMutants: readonly Mutant[] = [
  ...fenceMutants,
  ...claimMutants,
  ...leaseMutants,
  ...settleMutants,
  ...planMutants,
  ...runMutants,
  ...keyMutants,
  ...enqueueMutants,
  ...archiveMutants,
  ...wakeUpMutants,
  ...bellMutants,
  ...cursorMutants,
  ...stopMutants,
];
