import type { ChaosResult } from "./chaos-run.js";
import { times } from "./chaos-queue.js";

/** Whether every promise was kept. */
export function isGreen({ violations, misbehaviour }: ChaosResult): boolean {
  return misbehaviour.length === 0 && violations.every(({ count }) => count === 0);
}

export interface About {
  readonly seconds: number;
  readonly seed: number;
}

/** What `npm run chaos` prints. */
export function describeRun(result: ChaosResult, { seconds, seed }: About): string {
  const { faults, violations } = result;
  const injections = faults.reduce((sum, { times: count }) => sum + count, 0);
  const harmed = (harm: string) => violations.filter((one) => one.harm === harm).reduce((sum, { count }) => sum + count, 0);
  const rows = faults.map((fault) => [
    fault.name,
    String(fault.times),
    String(fault.jobs),
    String(fault.lost),
    String(fault.doubled),
    String(fault.stuck),
    inMs(fault.longestRecoveryMs),
  ]);
  const total = [
    "in all",
    String(injections),
    String(result.jobs),
    String(harmed("lost")),
    String(harmed("doubled")),
    String(harmed("stuck")),
    "",
  ];
  return [
    `${injections} faults in ${seconds} s, ${result.jobs} jobs of committed transactions, ${result.runs} runs of their handlers, seed ${seed}`,
    "",
    ...table([["fault", "times", "jobs", "lost", "doubled effects", "stuck", "longest recovery"], ...rows, total]),
    "",
    "jobs: their handlers ran during the fault. recovery: from the fault (its end, when it stops every worker) to the job's next start.",
    "",
    `from a worker's death to the restart of its job, at most: ${inMs(result.longestRestartMs)}, where lease ${times.leaseMs} ms + sweep ${times.sweepMs} ms + 1000 ms allow ${result.barMs} ms (${result.deathsAlone} deaths with nothing else going wrong); with other faults besides: ${inMs(result.longestRestartBesidesMs)}`,
    `leases that ran out: ${result.expiredLeases}; dead letters, all of them meant: ${result.dead}; killed between claim and start: ${result.killedBeforeStart}; other attempts that no handler started, of jobs that are done: ${result.spentUnstarted}; started after the lease was gone: ${result.startedLate}`,
    `longest wait of a job for its first claim: ${inMs(result.longestWaitMs)}`,
    `looks at the sessions: ${result.looks}; all workers claim again after the last fault: ${inMs(result.allWorkAgainMs)}`,
    "",
    ...violations.map(({ rule, count }) => `${String(count).padStart(6)}  ${rule}`),
    `${String(result.misbehaviour.length).padStart(6)}  a process ended by itself, did not end, or worked no more`,
    ...(result.notInjected.length === 0 ? [] : ["", "could not be injected, and are not counted:", ...result.notInjected]),
    ...describeViolations(result),
    "",
    isGreen(result) ? "Nothing lost, nothing doubled, nothing stuck." : "FAILED",
  ].join("\n");
}

function describeViolations(result: ChaosResult): string[] {
  const { violations, misbehaviour } = result;
  return [
    ...misbehaviour.map((what) => `\n${what}`),
    ...violations
      .filter(({ count }) => count > 0)
      .flatMap(({ rule, findings }) => [
        `\n${rule}:`,
        ...findings
          .slice(0, 20)
          .map(({ job_id: id, at, detail }) => `  ${id === null ? "" : `job ${id} `}${at?.toISOString() ?? ""} ${detail}`),
      ]),
    ...(isGreen(result) ? [] : Object.entries(result.histories)).flatMap(([id, lines]) => [
      `\njob ${id}`,
      ...lines.map((line) => `  ${line}`),
    ]),
  ];
}

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(" | ")} |`;
  const [heading = [], ...body] = rows;
  const rule = `| ${widths.map((width, column) => (column === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`)).join(" | ")} |`;
  return [line(heading), rule, ...body.map(line)];
}

function inMs(ms: number | null): string {
  return ms === null ? "-" : `${Math.round(ms)} ms`;
}
