import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Said } from "./run-worker.js";

const script = fileURLToPath(new URL("../dist/run-worker.js", import.meta.url));

/** A worker in a process of its own. */
export class WorkerProcess {
  readonly said: Said[] = [];
  readonly child: ChildProcess;
  readonly #exited: Promise<unknown[]>;
  #waiting: (() => void)[] = [];

  private constructor(url: string, graceMs: number) {
    this.child = spawn(process.execPath, [script], {
      env: { ...process.env, E2E_URL: url, E2E_GRACE_MS: String(graceMs) },
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#exited = once(this.child, "exit");
    if (this.child.stdout === null) throw new Error("The process has no standard output.");
    createInterface({ input: this.child.stdout }).on("line", (line) => {
      this.said.push(JSON.parse(line) as Said);
      for (const check of this.#waiting) check();
    });
  }

  static async start(url: string, graceMs = 5_000): Promise<WorkerProcess> {
    const started = new WorkerProcess(url, graceMs);
    // Or it died over the first job that it claimed.
    await Promise.race([started.until("ready", 1), started.exited()]);
    return started;
  }

  starts(): Said[] {
    return this.said.filter(({ what }) => what === "start");
  }

  /** Resolves when it has said so `count` times; the test's own timeout ends a wait that is in vain. */
  until(what: Said["what"], count: number): Promise<void> {
    return new Promise((resolve) => {
      const check = () => {
        if (this.said.filter((one) => one.what === what).length < count) return;
        this.#waiting = this.#waiting.filter((other) => other !== check);
        resolve();
      };
      this.#waiting.push(check);
      check();
    });
  }

  /** Sends the signal and waits for the end; the exit code, or null after a kill. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    this.child.kill(signal);
    return this.exited();
  }

  async exited(): Promise<number | null> {
    const [code] = await this.#exited;
    return code as number | null;
  }
}
