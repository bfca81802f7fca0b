import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { monotonicMs } from "./run-log.js";

export interface ProcessOptions {
  readonly script: "chaos-worker.js" | "chaos-producer.js";
  readonly env: Readonly<Record<string, string>>;
}

/** A process that was killed, and when: its jobs have to start elsewhere. */
export interface Death {
  readonly pid: number;
  readonly atMs: number;
}

/** A process that is started again when it ends, as a supervisor does, until it is told to end. */
export class SupervisedProcess {
  readonly #options: ProcessOptions;
  readonly #onUnexpectedEnd: (code: number | null) => void;
  #child: ChildProcess;
  #isEnding = false;
  #expectsEnd = false;

  constructor(options: ProcessOptions, onUnexpectedEnd: (code: number | null) => void) {
    this.#options = options;
    this.#onUnexpectedEnd = onUnexpectedEnd;
    this.#child = this.#start();
  }

  get pid(): number {
    return this.#child.pid ?? -1;
  }

  signal(signal: NodeJS.Signals): void {
    if (signal === "SIGKILL" || signal === "SIGTERM") this.#expectsEnd = true;
    this.#child.kill(signal);
  }

  /** Kills it; the death that the oracle measures the recovery from. */
  kill(): Death {
    const death = { pid: this.pid, atMs: monotonicMs() };
    this.signal("SIGKILL");
    return death;
  }

  /** SIGTERM, and no new start; resolves when it has ended. */
  async end(): Promise<void> {
    this.#isEnding = true;
    const child = this.#child;
    if (child.exitCode !== null || child.signalCode !== null) return;
    await new Promise<void>((resolve) => {
      child.once("exit", () => resolve());
      child.kill("SIGCONT");
      child.kill("SIGTERM");
    });
  }

  #start(): ChildProcess {
    const { script, env } = this.#options;
    const child = spawn(process.execPath, [fileURLToPath(new URL(script, import.meta.url))], {
      env: { ...process.env, ...env },
      stdio: ["ignore", "inherit", "inherit"],
    });
    child.once("exit", (code) => {
      if (this.#isEnding) return;
      if (!this.#expectsEnd) this.#onUnexpectedEnd(code);
      this.#expectsEnd = false;
      this.#child = this.#start();
    });
    return child;
  }
}
