import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What a handler did, as the process saw it. Kept in a file, which no fault of the database can reach. */
export interface RunEntry {
  readonly what: "start" | "end" | "effect";
  readonly job: string;
  readonly attempt: number;
  readonly token: string;
  readonly pid: number;
  /** Milliseconds of the machine's monotonic clock, the same for all processes. */
  readonly atMs: number;
}

export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000;
}

/** Appends; a line is in the file when this returns, also if the process is killed then. */
export function createRunLog(folder: string): (entry: Omit<RunEntry, "pid" | "atMs">) => void {
  const file = join(folder, `runs-${process.pid}-${Math.round(monotonicMs())}.jsonl`);
  return (entry) => appendFileSync(file, `${JSON.stringify({ ...entry, pid: process.pid, atMs: monotonicMs() })}\n`);
}

export function readRunLogs(folder: string): RunEntry[] {
  return readdirSync(folder)
    .filter((name) => name.startsWith("runs-"))
    .flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n"))
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as RunEntry);
}
