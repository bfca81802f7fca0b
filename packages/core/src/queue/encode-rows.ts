import type { ResolvedEnqueueOptions } from "./enqueue-options.js";

/** A job on its way into the table: validated, its payload already JSON text. */
export interface PreparedJob {
  readonly kind: string;
  readonly payload: string;
  readonly options: ResolvedEnqueueOptions;
}

/** `jobs` as the one JSON text that the enqueue statements take. Payloads are already JSON and are not parsed again. */
export function encodeRows(jobs: readonly PreparedJob[], isKeyed: boolean): string {
  return `[${jobs.map((prepared, position) => encodeRow(prepared, position, isKeyed)).join(",")}]`;
}

function encodeRow({ kind, payload, options }: PreparedJob, position: number, isKeyed: boolean): string {
  const { lane, priority, max_attempts, delay_ms, run_at, key, hold_ms, release_on } = options;
  const head = JSON.stringify({
    position,
    kind,
    lane,
    priority,
    max_attempts,
    delay_ms,
    run_at,
    ...(isKeyed ? { key, hold_ms, release_on } : {}),
  });
  return `${head.slice(0, -1)},"payload":${payload}}`;
}
