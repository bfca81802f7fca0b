import * as model from "../model.js";
import type { Step } from "../step.js";

/** What only time does. */
export function expireLease(job: number): Step {
  return {
    text: `the lease of job ${job} runs out`,
    expect: (view) => model.expireLease(view, job),
    async perform({ query }, names) {
      await query("update queue.jobs set locked_until = clock_timestamp() - interval '1 second' where id = $1 and status = 'running'", [
        names.idOf(job),
      ]);
    },
  };
}

export function expireKey(name: string): Step {
  return {
    text: `the time of key ${name} is over`,
    expect: (view) => model.expireKey(view, name),
    async perform({ query }) {
      await query(
        "update queue.job_keys set expires_at = clock_timestamp() - interval '1 second' where kind || '/' || key = $1 and release_on is null",
        [name],
      );
    },
  };
}
