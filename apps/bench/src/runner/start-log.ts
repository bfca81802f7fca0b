import { steadyMs } from "./clock.js";
import type { Progress, Start } from "./protocol.js";
import type { BenchJob, OnStart } from "./system.js";

/** Counts and stamps the starts of handlers, as cheaply as it can: it runs inside what is measured. */
export class StartLog {
  #started = 0;
  #firstAt = 0;
  #lastAt = 0;
  #starts: Start[] = [];
  #failures: Start[] = [];
  readonly #failed = new Set<number>();
  readonly #waiting = new Set<{ readonly jobs: number; readonly done: () => void }>();

  /** What the handlers are to call. Without `record` nothing is kept but the count. */
  begin(record: boolean): OnStart {
    return (job) => this.#note(job, record);
  }

  #note(job: BenchJob, record: boolean): "done" | "fail" {
    this.#lastAt = steadyMs();
    if (this.#started === 0) this.#firstAt = this.#lastAt;
    this.#started += 1;
    const fails = job.failOnce === true && !this.#failed.has(job.id);
    if (record) (fails ? this.#failures : this.#starts).push({ id: job.id, at: this.#lastAt });
    if (fails) this.#failed.add(job.id);
    for (const { jobs, done } of this.#waiting) if (this.#started >= jobs) done();
    return fails ? "fail" : "done";
  }

  progress(): Progress {
    return { started: this.#started, firstAt: this.#firstAt, lastAt: this.#lastAt };
  }

  async waitStarted(jobs: number, timeoutMs: number): Promise<Progress> {
    if (this.#started < jobs) {
      await new Promise<void>((resolve) => {
        const waiting = { jobs, done: () => end() };
        const timer = setTimeout(() => end(), timeoutMs);
        const end = () => {
          clearTimeout(timer);
          this.#waiting.delete(waiting);
          resolve();
        };
        this.#waiting.add(waiting);
      });
    }
    return this.progress();
  }

  take(): { readonly starts: readonly Start[]; readonly failures: readonly Start[] } {
    const taken = { starts: this.#starts, failures: this.#failures };
    this.#starts = [];
    this.#failures = [];
    return taken;
  }
}
