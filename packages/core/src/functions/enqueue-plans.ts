import { createEnqueueStatements } from "../store/enqueue-statements.js";
import { type KeptPlan, keptPlans } from "./kept-plans.js";

const columns = {
  enqueueJobs: { id: "text" },
  enqueueKeyedJobs: { id: "text", inserted: "boolean", contested: "boolean" },
} as const;

/**
 * The plans of what producers send, apart from the INSERT of a single job without a key: that costs the server as much by a function
 * (188 µs, 194 by its statement). With a key it is a third (350 µs, 1,150), and a pair of jobs two thirds.
 */
export function enqueuePlans(schema: string, statements = createEnqueueStatements(schema)): readonly KeptPlan[] {
  return keptPlans<keyof typeof columns>(schema, statements, createEnqueueStatements, columns);
}
