/** What a process tells its test: one line of JSON on its standard output. A pipe is written at once, also before a kill. */
export interface Report {
  readonly what: string;
  readonly [detail: string]: unknown;
}

export function report(what: string, details: object = {}): void {
  process.stdout.write(`${JSON.stringify({ what, pid: process.pid, ...details } satisfies Report)}\n`);
}
