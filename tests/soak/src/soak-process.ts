import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { ProcessSample, SampleRequest } from "./process-sample.js";

const scripts = {
  producer: new URL("./soak-producer.js", import.meta.url),
  worker: new URL("./soak-worker.js", import.meta.url),
};
const answerTimeoutMs = 30_000;

export interface SoakProcessOptions {
  readonly role: keyof typeof scripts;
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A producer or a worker, in a process of its own. */
export class SoakProcess {
  readonly role: keyof typeof scripts;
  readonly name: string;
  readonly #child: ChildProcess;
  /** What it wrote, and how it ended before it was told to. */
  #complaints: string[] = [];
  #isEnding = false;

  constructor({ role, name, env }: SoakProcessOptions) {
    this.role = role;
    this.name = name;
    this.#child = fork(scripts[role], {
      env: { ...process.env, ...env, SOAK_NAME: name },
      execArgv: ["--expose-gc", "--disable-warning=ExperimentalWarning"],
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    this.#child.stderr?.on("data", (data: Buffer) => this.#complaints.push(`${name}: ${data.toString().trim()}`));
    this.#child.once("exit", (code, signal) => {
      if (!this.#isEnding || code !== 0) this.#complaints.push(`${name}: ended with ${signal ?? code}`);
    });
  }

  /** Undefined when it does not answer, which is a complaint. */
  async sample(request: SampleRequest): Promise<ProcessSample | undefined> {
    if (!this.#child.connected) return undefined;
    const answer = once(this.#child, "message", { signal: AbortSignal.timeout(answerTimeoutMs) });
    this.#child.send(request);
    try {
      const [sample] = (await answer) as [ProcessSample];
      return sample;
    } catch {
      this.#complaints.push(`${this.name}: did not answer within ${answerTimeoutMs} ms`);
      return undefined;
    }
  }

  /** What it has complained about since the last call. */
  takeComplaints(): readonly string[] {
    const taken = this.#complaints;
    this.#complaints = [];
    return taken;
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGTERM");
    await ended;
  }
}
