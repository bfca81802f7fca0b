import { JobNames } from "./job-names.js";
import type { HeldJob } from "./step.js";
import { Transactions } from "./transactions.js";

/** Where the model stands: what the next command can be about. */
export class World {
  readonly transactions = new Transactions();
  readonly names = new JobNames();
  /** All that claims ever gave out, the newest last: what is stale stays. */
  readonly held: HeldJob[] = [];
}
