import { createWorkerStatements, readClaimAnswer, type Requeue, runStatement, toArrayLiteral } from "@queue/core/internal";
import type { Fence, Settlement } from "../inputs.js";
import type { JobNames } from "../job-names.js";
import * as model from "../model.js";
import type { HeldJob, Step } from "../step.js";
import { isKept, type WorkerName, workers } from "../test-queue.js";

const statements = createWorkerStatements("queue");
const leaseMs = 3_600_000;
const delayMs = 3_600_000;

type Claimed = Omit<HeldJob, "worker">;

export function claim(worker: WorkerName, limit: number): Step<Claimed[]> {
  const { kinds, lanes } = workers[worker];
  return {
    text: `${worker} claims ${limit}`,
    expect(view, seen) {
      if (seen === undefined) return [];
      const taken = seen.map(({ job }) => job);
      const jobs = model.claim(view, { worker, kinds, lanes, limit }, taken);
      return inOrder(jobs.map(({ id, kind, claims, attempts, maxAttempts }) => ({ job: id, kind, claims, attempts, maxAttempts })));
    },
    async perform({ executor }, names) {
      const lines = lanes.map((lane) => ({ lane, priority: 5, since: null, since_id: "0" }));
      const groups = JSON.stringify([{ take: limit, lines }]);
      const input = { groups, kinds: toArrayLiteral(kinds), limit, worker, leaseMs };
      const { claimed } = readClaimAnswer(await runStatement(executor, statements.claimJobs, input));
      return inOrder(
        claimed.map(({ id, kind, claims, attempts, max_attempts: maxAttempts }) => ({
          job: names.nameOf(id),
          kind,
          claims,
          attempts,
          maxAttempts,
        })),
      );
    },
    held: (answer) => answer.map((job) => ({ ...job, worker })),
  };
}

export function heartbeat(worker: string, fences: readonly Fence[]): Step {
  return {
    text: `${worker} sends a heartbeat for ${shown(fences)}`,
    expect: (view) => model.heartbeat(view, worker, fences),
    async perform({ executor }, names) {
      const rows = await runStatement(executor, statements.extendLeases, { ...fenceLists(fences, names), worker, leaseMs });
      const answers = rows.map(({ id, extended, held }) => ({ job: names.nameOf(id), extended, held }));
      return fences.map(({ job }) => answers.find((answer) => answer.job === job));
    },
  };
}

function fenceLists(fences: readonly Fence[], names: JobNames) {
  return { ids: list(fences.map(({ job }) => names.idOf(job))), fences: list(fences.map(({ claims }) => claims)) };
}

export function settle(worker: string, jobs: readonly HeldJob[], settlement: Settlement): Step {
  const { outcome, isDelayed, isOwn } = settlement;
  const details = [isDelayed && (outcome === "failed" || outcome === "snoozed") ? ", due later" : "", isOwn ? ", in its transaction" : ""];
  return {
    text: `${worker} settles ${shown(jobs)}: ${outcome}${details.join("")}`,
    ...(isOwn ? { canWait: () => (jobs.length > 1 ? "for a rollback" : "for any end") } : {}),
    expect: (view) => model.settle(view, worker, jobs, settlement),
    async perform({ executor }, names) {
      if (outcome === "done") {
        const keeps = list(jobs.map(({ kind }) => (isKept(kind) ? 86_400_000 : -1)));
        const complete = isOwn ? statements.completeOwnJobs : statements.completeJobs;
        return ids(await runStatement(executor, complete, { ...fenceLists(jobs, names), keeps, worker }), names);
      }
      const requeues = Object.fromEntries(jobs.map((job) => [names.idOf(job.job), requeue(job, settlement)]));
      const requeueing = isOwn ? statements.requeueOwnJobs : statements.requeueJobs;
      return ids(await runStatement(executor, requeueing, { jobs: JSON.stringify(requeues), worker }), names);
    },
  };
}

export function releaseUnknown(worker: string, known: readonly number[]): Step {
  return {
    text: `${worker} releases what it does not know; it knows jobs ${known.join(", ") || "none"}`,
    expect: (view) => model.releaseUnknown(view, worker, known),
    async perform({ executor }, names) {
      const input = { worker, known: list(known.map((job) => names.idOf(job))), until: null };
      return ids(await runStatement(executor, statements.releaseUnknownJobs, input), names);
    },
  };
}

export function sweep(except: number | undefined): Step {
  const own = except === undefined ? [] : [except];
  return {
    text: `sweep${except === undefined ? "" : ` by the process that runs job ${except}`}`,
    expect: (view) => model.sweep(view, own),
    async perform({ executor }, names) {
      const input = { limit: 1_000, except: list(own.map((job) => names.idOf(job))), withinMs: null };
      const rows = await runStatement(executor, statements.returnExpiredJobs, input);
      return inOrder(rows.map(({ id, status }) => ({ job: names.nameOf(id), status })));
    },
  };
}

export function deleteEnded(): Step {
  return {
    text: "delete ended keys",
    expect: (view) => model.deleteEnded(view),
    async perform({ executor }) {
      const [counts] = await runStatement(executor, statements.deleteEnded, { limit: 1_000 });
      const [walk] = await runStatement(executor, statements.deleteReleasedKeys, { afterKind: "", afterKey: "", limit: 1_000 });
      return Number(counts?.keys) + Number(walk?.deleted);
    },
  };
}

/** As a worker decides, by what its claim said. */
function requeue({ claims, attempts, maxAttempts }: HeldJob, { outcome, isDelayed }: Settlement): Requeue {
  const isLast = attempts >= maxAttempts;
  const isDead = outcome === "dead" || (outcome === "failed" && isLast);
  return {
    fence: claims,
    status: isDead ? "dead" : "queued",
    delayMs: outcome === "released" ? undefined : isDelayed && !isDead ? delayMs : 0,
    attemptsBack: outcome === "snoozed" || (outcome === "released" && isLast) ? 1 : 0,
    ...(outcome === "failed" || outcome === "dead" ? { error: { name: "Error", message: "It failed." } } : {}),
  };
}

function list(values: readonly (string | number | null)[]): string {
  return `{${values.map((value) => value ?? "NULL").join(",")}}`;
}

function ids(rows: readonly { readonly id: string }[], names: JobNames): number[] {
  return rows.map(({ id }) => names.nameOf(id)).sort((a, b) => a - b);
}

function inOrder<T extends { readonly job: number }>(answers: readonly T[]): T[] {
  return answers.toSorted((a, b) => a.job - b.job);
}

function shown(fences: readonly Fence[]): string {
  return fences.map(({ job, claims }) => `job ${job} at claim ${claims}`).join(" and ");
}
