import { openSync, readdirSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";

/** What a handler did, as its process saw it. Kept in a file until the end, because no fault of the database can reach that. */
export interface RunLog {
  /** The handler was called. Returns the number of the run in this process. */
  start(job: { readonly id: string; readonly attempt: number; readonly payload: { readonly token: string } }): number;
  end(run: number, isOk: boolean): void;
  /** The effect of a `once` was carried out. */
  carriedOut(jobId: string): void;
}

/** One call of a handler. Times are those of the machine's monotonic clock, in milliseconds. */
export interface LoggedRun {
  readonly pid: number;
  readonly jobId: string;
  readonly attempt: number;
  readonly token: string;
  readonly startedAtMs: number;
  endedAtMs: number | undefined;
  /** It returned, and did not throw. */
  isOk: boolean;
}

export interface LoggedEffect {
  readonly pid: number;
  readonly jobId: string;
  readonly atMs: number;
}

/** The machine's monotonic clock, the same for all processes, and not moved by whatever is done to the time of day. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000;
}

/** Appends; a line is in the file when this returns, also if the process is killed then. */
export function createRunLog(folder: string): RunLog {
  const file = openSync(join(folder, `runs-${process.pid}-${Math.round(monotonicMs())}.tsv`), "a");
  const write = (...fields: readonly (string | number)[]) => void writeSync(file, `${fields.join("\t")}\n`);
  let runs = 0;
  return {
    start(job) {
      runs += 1;
      write("start", runs, job.id, job.attempt, job.payload.token, monotonicMs());
      return runs;
    },
    end: (run, isOk) => write("end", run, isOk ? 1 : 0, monotonicMs()),
    carriedOut: (jobId) => write("effect", jobId, monotonicMs()),
  };
}

/** Everything that the processes of a run logged, a process at a time. */
export function* readRunLogs(folder: string): Generator<{ readonly runs: LoggedRun[]; readonly effects: LoggedEffect[] }> {
  for (const name of readdirSync(folder)) {
    const pid = Number(/^runs-(\d+)-/.exec(name)?.[1]);
    yield readRunLog(pid, readFileSync(join(folder, name), "utf8"));
  }
}

function readRunLog(pid: number, text: string): { runs: LoggedRun[]; effects: LoggedEffect[] } {
  const runs = new Map<string, LoggedRun>();
  const effects: LoggedEffect[] = [];
  for (const line of text.split("\n")) {
    const [what, first = "", second = "", third = "", fourth = "", fifth = ""] = line.split("\t");
    if (what === "start") {
      const run = { pid, jobId: second, attempt: Number(third), token: fourth, startedAtMs: Number(fifth) };
      runs.set(first, { ...run, endedAtMs: undefined, isOk: false });
    } else if (what === "end") {
      const run = runs.get(first);
      if (run === undefined) throw new Error(`Process ${pid} ended a run that it had not started: ${line}`);
      run.isOk = second === "1";
      run.endedAtMs = Number(third);
    } else if (what === "effect") {
      effects.push({ pid, jobId: first, atMs: Number(second) });
    }
  }
  return { runs: [...runs.values()], effects };
}
