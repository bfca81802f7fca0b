import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Reply, Request, RunnerCommands } from "./protocol.js";

type Argument<TCommand extends keyof RunnerCommands> = Parameters<RunnerCommands[TCommand]>;
type Result<TCommand extends keyof RunnerCommands> = Awaited<ReturnType<RunnerCommands[TCommand]>>;

interface Pending {
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

/** A process that runs one side. */
export class RunnerProcess {
  readonly #side: string;
  readonly #child: ChildProcess;
  readonly #pending = new Map<number, Pending>();
  readonly #exited: Promise<void>;
  #numbers = 0;

  constructor(side: string, nodePath: string) {
    this.#side = side;
    this.#child = fork(fileURLToPath(new URL(`../runners/${side}.js`, import.meta.url)), [], {
      execPath: nodePath,
      execArgv: ["--expose-gc"],
      // What a library logs belongs to nobody's figures.
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      env: { ...process.env, NODE_ENV: "production" },
    });
    this.#child.on("message", (reply: Reply) => this.#settle(reply));
    this.#exited = new Promise((resolve) => {
      this.#child.once("error", (error) => this.#fail(error, resolve));
      this.#child.once("exit", (code, signal) => this.#fail(new Error(`ended with ${signal ?? code}`), resolve));
    });
  }

  call<TCommand extends keyof RunnerCommands>(command: TCommand, ...[argument]: Argument<TCommand>): Promise<Result<TCommand>> {
    const number = (this.#numbers += 1);
    const request: Request = { number, command, argument };
    return new Promise<Result<TCommand>>((resolve, reject) => {
      this.#pending.set(number, { resolve, reject });
      this.#child.send(request, (error) => {
        if (error !== null) this.#settle({ number, error: error.message });
      });
    });
  }

  /** At once, as nothing of it is needed any more: its database is dropped. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#exited;
  }

  #settle(reply: Reply): void {
    const pending = this.#pending.get(reply.number);
    this.#pending.delete(reply.number);
    if ("error" in reply) pending?.reject(new Error(`${this.#side}: ${reply.error}`));
    else pending?.resolve(reply.result as never);
  }

  #fail(error: Error, ended: () => void): void {
    for (const { reject } of this.#pending.values()) reject(new Error(`The process of ${this.#side} ${error.message}.`));
    this.#pending.clear();
    ended();
  }
}
