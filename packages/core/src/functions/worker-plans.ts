import { createWorkerStatements, type WorkerStatements } from "../store/worker-statements.js";
import { type Columns, type KeptPlan, keptPlans } from "./kept-plans.js";

const claimed = {
  id: "text",
  kind: "text",
  lane: "text",
  priority: "smallint",
  payload: "text",
  attempts: "integer",
  max_attempts: "integer",
  claims: "integer",
  idempotency_key: "text",
  created_at: "text",
  run_at: "text",
  now: "text",
  paused: "text",
  completed: "text",
};

/** What a busy worker sends, with the columns that each answers with. */
const columns = {
  beginEffect: { begun: "boolean", done: "boolean", owner: "text", owner_running: "boolean", fenced: "boolean" },
  claimJobs: claimed,
  completeAndClaim: claimed,
  completeJobs: { id: "text" },
  completeOwnJobs: { id: "text" },
  extendLeases: { id: "text", extended: "boolean", held: "boolean" },
  findEnded: { id: "text", status: "text", claims: "integer", worker: "text" },
  finishEffect: { key: "text" },
  lookAhead: { lane: "text", priority: "smallint", due_in_ms: "text" },
  requeueJobs: { id: "text" },
  requeueOwnJobs: { id: "text" },
} as const satisfies Partial<Record<keyof WorkerStatements, Columns>>;

/** The plans of the statements that workers send again and again. */
export function workerPlans(schema: string, statements = createWorkerStatements(schema)): readonly KeptPlan[] {
  return keptPlans<keyof typeof columns>(schema, statements, createWorkerStatements, columns);
}
