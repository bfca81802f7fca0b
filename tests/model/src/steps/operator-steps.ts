import { QueueError } from "@queue/core";
import type { Redrive } from "../inputs.js";
import * as model from "../model.js";
import type { Step } from "../step.js";
import { queue } from "../test-queue.js";

export function cancel(job: number): Step {
  return {
    text: `cancel job ${job}`,
    canWait: () => "for any end",
    expect: (view) => model.cancel(view, job),
    perform: ({ executor }, names) => statusOrCode(queue.admin(executor).cancel(names.idOf(job))),
  };
}

export function retry(job: number): Step {
  return {
    text: `retry job ${job}`,
    // A job that does not take its key again is judged by what was committed before the wait.
    canWait: (_, view) => (["time", "started"].includes(view.job(job)?.hold ?? "") ? "for a rollback" : "for any end"),
    expect: (view) => model.retry(view, job),
    perform: ({ executor }, names) => statusOrCode(queue.admin(executor).retry(names.idOf(job))),
  };
}

async function statusOrCode(answer: Promise<{ readonly status: string }>): Promise<string> {
  try {
    return (await answer).status;
  } catch (error) {
    if (QueueError.is(error)) return error.code;
    throw error;
  }
}

export function redrive({ kind, lane, limit, dryRun }: Redrive): Step {
  const filter = [kind, lane === undefined ? undefined : `in ${lane}`, limit === undefined ? undefined : `at most ${limit}`];
  return {
    text: ["redrive", ...filter.filter((part) => part !== undefined), ...(dryRun ? ["(dry run)"] : [])].join(" "),
    expect: (view) => model.redrive(view, { kind, lane, limit, dryRun }),
    async perform({ executor }, names) {
      const { count, conflicts } = await queue.admin(executor).redrive({ kind, lane, limit, dryRun, all: true });
      return { count, conflicts: conflicts.map((id) => names.nameOf(id)) };
    },
  };
}

export function pause(lane: string): Step {
  return {
    text: `pause ${lane}`,
    canWait: () => "for any end",
    expect: (view) => model.pause(view, lane),
    perform: ({ executor }) => queue.admin(executor).pause(lane),
  };
}

export function resume(lane: string): Step {
  return {
    text: `resume ${lane}`,
    // It removes the pause that it saw, not one that was made meanwhile.
    canWait: () => "for a rollback",
    expect: (view) => model.resume(view, lane),
    perform: ({ executor }) => queue.admin(executor).resume(lane),
  };
}
