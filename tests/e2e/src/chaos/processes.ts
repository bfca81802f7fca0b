import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { monotonicMs } from "./run-log.js";

export interface ProcessOptions {
  readonly script: "chaos-worker.js" | "chaos-producer.js";
  readonly env: Readonly<Record<string, string>>;
}

/** The end of a process. What it was running has to start elsewhere. */
export interface ProcessEnd {
  readonly pid: number;
  /** When it was noticed; of one that was killed, when the signal was sent. */
  readonly atMs: number;
  /** By SIGKILL. */
  readonly isKilled: boolean;
}

export interface ProcessEvents {
  onEnd(end: ProcessEnd): void;
  /** It ended although nobody had asked it to, or did not end when it was asked. */
  onMisbehaviour(what: string): void;
}

/** Grace, abort and the statements of a stop, each with a database that does not answer. */
const endsWithinMs = 30_000;

/** A process that is started again when it ends, as a supervisor does, until it is told to end. */
export class SupervisedProcess {
  readonly #options: ProcessOptions;
  readonly #events: ProcessEvents;
  #child: ChildProcess;
  #isEnding = false;
  #expectsEnd = false;
  #killedAtMs: number | undefined;

  constructor(options: ProcessOptions, events: ProcessEvents) {
    this.#options = options;
    this.#events = events;
    this.#child = this.#start();
  }

  get pid(): number {
    return this.#child.pid ?? -1;
  }

  get env(): Readonly<Record<string, string>> {
    return this.#options.env;
  }

  signal(signal: NodeJS.Signals): void {
    if (signal === "SIGKILL" || signal === "SIGTERM") this.#expectsEnd = true;
    if (signal === "SIGKILL") this.#killedAtMs = monotonicMs();
    this.#child.kill(signal);
  }

  /** SIGTERM, and no new start; resolves when it has ended. */
  async end(): Promise<void> {
    this.#isEnding = true;
    const child = this.#child;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const tooLate = setTimeout(() => {
      this.#events.onMisbehaviour(`process ${child.pid} (${this.#options.script}) did not end within ${endsWithinMs} ms of SIGTERM`);
      child.kill("SIGKILL");
    }, endsWithinMs);
    await new Promise<void>((resolve) => {
      child.once("exit", () => resolve());
      child.kill("SIGCONT");
      child.kill("SIGTERM");
    });
    clearTimeout(tooLate);
  }

  #start(): ChildProcess {
    const { script, env } = this.#options;
    const child = spawn(process.execPath, [fileURLToPath(new URL(script, import.meta.url))], {
      env: { ...process.env, ...env },
      // The pipe closes when this process ends, however it does, and the child ends with it.
      stdio: ["pipe", "ignore", "inherit"],
    });
    child.once("exit", (code, signal) => {
      this.#events.onEnd({ pid: child.pid ?? -1, atMs: this.#killedAtMs ?? monotonicMs(), isKilled: signal === "SIGKILL" });
      this.#killedAtMs = undefined;
      if (this.#isEnding) return;
      if (!this.#expectsEnd) this.#events.onMisbehaviour(`process ${child.pid} (${script}) ended by itself with ${code ?? signal}`);
      this.#expectsEnd = false;
      this.#child = this.#start();
    });
    return child;
  }
}
