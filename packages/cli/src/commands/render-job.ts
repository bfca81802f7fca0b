import type { JobRecord } from "@queue/core";
import { showInstant } from "../output/instant.js";
import type { Output } from "../output/output.js";
import { visible } from "../output/visible.js";

/** All of one job, a line each. */
export function renderJob({ colors }: Pick<Output, "colors">, job: JobRecord): string {
  const facts: readonly (readonly [string, string | number | null])[] = [
    ["id", job.id],
    ["kind", job.kind],
    ["lane", job.lane],
    ["status", job.status],
    ["priority", job.priority],
    ["attempts", `${job.attempts} of ${job.maxAttempts}${job.redrives === 0 ? "" : `, redriven ${job.redrives} times`}`],
    ["key", job.key],
    ["created", showInstant(job.createdAt)],
    ["due", showInstant(job.runAt)],
    ["started", showInstant(job.startedAt)],
    ["ended", showInstant(job.finishedAt)],
    ["worker", job.worker],
    ["payload", job.isPayloadKept ? JSON.stringify(job.payload) : "not kept: it has more than 2 kB"],
  ];
  const lines = facts.flatMap(([name, value]) => (value === null ? [] : [`${colors.dim(name.padEnd(9))} ${visible(String(value))}`]));
  const failures = job.errors.map(
    ({ attempt, at, name, message }) => `  attempt ${attempt}, ${showInstant(at)}: ${visible(name)}: ${visible(message)}`,
  );
  return [...lines, ...(failures.length === 0 ? [] : [colors.dim("failures"), ...failures])].join("\n");
}
