import { createQueue, job, type JobOptions } from "@queue/core";
import { resolveKinds } from "@queue/core/internal";
import type { RunningAttempt } from "../../src/run/running-attempt.js";

interface Given extends JobOptions {
  readonly id?: string;
  readonly attempt?: number;
  readonly claims?: number;
  readonly leaseUntilMs?: number;
}

/** An attempt as the claim makes it; what is not given is ordinary. */
export function anAttempt({ id = "1", attempt = 1, claims = attempt, leaseUntilMs = 30_000, ...options }: Given = {}): RunningAttempt {
  const kind = resolveKinds(createQueue({ jobs: { a: job(options) } }).jobs).get("a");
  if (kind === undefined) throw new Error("The kind was defined a line above.");
  const { lane, priority, maxAttempts } = kind.options;
  return {
    row: {
      id,
      kind: "a",
      lane,
      priority,
      payload: "null",
      attempts: attempt,
      max_attempts: maxAttempts,
      claims,
      idempotency_key: null,
      created_at: "0",
      run_at: "0",
    },
    id,
    kind,
    fence: claims,
    attempt,
    maxAttempts,
    startedAtMs: 0,
    leaseUntilMs,
    controller: undefined,
    abortedBy: undefined,
    isBegun: false,
    isHandedOver: false,
    isLost: false,
  };
}
