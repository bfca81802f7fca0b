import fc from "fast-check";
import type { Item, Settlement } from "./inputs.js";
import { type Control, type Ending, type Run, sessionNames, time } from "./run.js";
import type { HeldJob, Step } from "./step.js";
import * as operator from "./steps/operator-steps.js";
import * as producer from "./steps/producer-steps.js";
import * as times from "./steps/time-steps.js";
import * as workerSteps from "./steps/worker-steps.js";
import { isKept, type Kind, kinds, laneOf, lanes, maxAttemptsOf, type WorkerName, workers } from "./test-queue.js";
import type { Hold } from "./view.js";
import type { World } from "./world.js";

type Command = fc.AsyncCommand<World, Run>;

const session = fc.constantFrom(...sessionNames);
const worker = fc.constantFrom(...(Object.keys(workers) as WorkerName[]));
const lane = fc.constantFrom(...lanes);
const ending = fc.constantFrom<Ending[]>("commit", "commit", "rollback", "rollback to savepoint");
/** One of some, counted from the newest. */
const recent = fc.nat({ max: 5 });
const outcome = fc.constantFrom<Settlement["outcome"][]>("done", "failed", "failed", "dead", "dead", "snoozed", "released");
const seldom = fc.nat({ max: 7 }).map((n) => n === 7);
const or = <T>(arbitrary: fc.Arbitrary<T>, weight: number) =>
  fc.oneof({ withCrossShrink: true }, { arbitrary: fc.constant(undefined), weight: 4 }, { arbitrary, weight });

/** Few keys, so that they meet. */
const item: fc.Arbitrary<Item> = fc
  .record({
    kind: fc.constantFrom<Kind[]>("index", "index", "index", "index", "receipt", "ping"),
    otherLane: or(lane, 1),
    key: or(fc.constantFrom("x", "x", "x", "x", "y"), 20),
    hold: fc.constantFrom<Hold[]>("ended", "ended", "started", "time"),
    isDelayed: seldom,
  })
  .map(({ kind, otherLane, key = null, hold, isDelayed }) => ({
    kind,
    lane: otherLane ?? laneOf(kind),
    key,
    hold: key === null ? null : hold,
    maxAttempts: maxAttemptsOf(kind),
    isKept: isKept(kind),
    isDelayed,
  }));

interface Speaker {
  readonly recent: number;
  readonly others: readonly number[];
  /** Of jobs that it has lost as well as of those that it has. */
  readonly isLate: boolean;
  readonly isImpostor: boolean;
}

/** A worker that speaks of jobs that claims gave it, which may be another's by now; seldom, of what claims gave another one. */
const speaker: fc.Arbitrary<Speaker> = fc.record({
  recent,
  others: fc.array(recent, { maxLength: 2 }),
  isLate: fc.boolean(),
  isImpostor: seldom,
});

function spokenOf({ held, transactions }: World, how: Speaker): { name: string; jobs: readonly HeldJob[] } | undefined {
  const view = transactions.view(time);
  const candidates = how.isLate
    ? held
    : held.filter(({ job, claims }) => view.job(job)?.status === "running" && view.job(job)?.claims === claims);
  const picked = [how.recent, ...how.others].flatMap((pick) => newest(candidates, pick) ?? []);
  const giver = picked[0]?.worker;
  if (giver === undefined) return undefined;
  const byJob = new Map(picked.filter((job) => job.worker === giver).map((job) => [job.job, job]));
  const name = how.isImpostor ? (giver === "w1" ? "w2" : "w1") : giver;
  return { name, jobs: [...byJob.values()].sort((x, y) => x.job - y.job) };
}

function newest<T>(values: readonly T[], pick: number): T | undefined {
  return values[values.length - 1 - (pick % Math.max(values.length, 1))];
}

/** Also one whose enqueue was rolled back. */
function anyJob({ names: { count } }: World, pick: number): number | undefined {
  return count === 0 ? undefined : count - (pick % count);
}

function runningJob({ transactions }: World, pick: number): number | undefined {
  return newest(
    transactions
      .view(time)
      .jobs()
      .filter(({ status }) => status === "running"),
    pick,
  )?.id;
}

/** A step of some session: not done when there is nothing that it could be about, or when it would wait and may not. */
function command<T extends object>(
  name: string,
  given: fc.Arbitrary<T>,
  toStep: (values: T, world: World) => Step | undefined,
  by: fc.Arbitrary<string> = session,
): fc.Arbitrary<Command> {
  return fc.record({ who: by, values: given, ending }).map(({ who, values, ending: how }) => ({
    check(world) {
      const step = toStep(values, world);
      if (step === undefined) return false;
      const attempt = world.transactions.attempt(who, (view) => step.expect(view, undefined), { isKept: false });
      return "answer" in attempt || step.canWait !== undefined;
    },
    async run(world, run) {
      const step = toStep(values, world);
      if (step !== undefined) await run.step(who, step, how);
    },
    toString: () => `${who} ${name}`,
  }));
}

function control(name: Control, isPossible: (world: World, who: string) => boolean): fc.Arbitrary<Command> {
  return session.map((who) => ({
    check: (world) => isPossible(world, who),
    run: (_, run) => run.control(who, name),
    toString: () => `${who} ${name}`,
  }));
}

const isOpen = ({ transactions }: World, who: string) => transactions.isOpen(who);
const hasSavepoint = ({ transactions }: World, who: string) => transactions.hasSavepoint(who);

const transactionCommands = [
  { weight: 6, of: control("begin", (world, who) => !isOpen(world, who)) },
  { weight: 2, of: control("commit", isOpen) },
  { weight: 1, of: control("rollback", isOpen) },
  { weight: 2, of: control("savepoint", (world, who) => isOpen(world, who) && !hasSavepoint(world, who)) },
  { weight: 2, of: control("rollback to savepoint", hasSavepoint) },
];

const producerCommands = [
  { weight: 10, of: command("enqueue", item, (only) => producer.enqueue([only])) },
  { weight: 2, of: command("enqueueMany", fc.array(item, { minLength: 2, maxLength: 4 }), (items) => producer.enqueue(items)) },
];

const workerCommands = [
  {
    weight: 10,
    of: command("claim", fc.record({ worker, limit: fc.constantFrom(1, 2, 5) }), (given) => workerSteps.claim(given.worker, given.limit)),
  },
  {
    weight: 3,
    of: command("heartbeat", speaker, (how, world) => {
      const spoken = spokenOf(world, how);
      return spoken && workerSteps.heartbeat(spoken.name, spoken.jobs);
    }),
  },
  {
    weight: 12,
    of: command("settle", fc.record({ how: speaker, outcome, isDelayed: seldom, isOwn: fc.boolean() }), (given, world) => {
      const spoken = spokenOf(world, given.how);
      return spoken && workerSteps.settle(spoken.name, spoken.jobs, given);
    }),
  },
  {
    weight: 1,
    of: command("releaseUnknown", fc.record({ worker, known: fc.array(recent, { maxLength: 3 }) }), (given, world) => {
      const known = new Set(given.known.flatMap((pick) => anyJob(world, pick) ?? []));
      return workerSteps.releaseUnknown(given.worker, [...known]);
    }),
  },
  {
    weight: 3,
    of: command("sweep", fc.record({ except: or(recent, 1) }), ({ except }, world) =>
      workerSteps.sweep(except === undefined ? undefined : runningJob(world, except)),
    ),
  },
  { weight: 2, of: command("deleteEnded", fc.constant({}), () => workerSteps.deleteEnded()) },
];

const operatorCommands = [
  ...[operator.cancel, operator.retry].map((step) => ({
    weight: 4,
    of: command(step.name, fc.record({ pick: recent }), ({ pick }, world) => {
      const job = anyJob(world, pick);
      return job === undefined ? undefined : step(job);
    }),
  })),
  {
    weight: 4,
    of: command(
      "redrive",
      fc.record({ kind: or(fc.constantFrom(...kinds), 1), lane: or(lane, 1), limit: or(fc.constantFrom(1, 2), 2), dryRun: seldom }),
      (given) => operator.redrive(given),
    ),
  },
  { weight: 1, of: command("pause", fc.record({ lane }), (given) => operator.pause(given.lane)) },
  { weight: 3, of: command("resume", fc.record({ lane }), (given) => operator.resume(given.lane)) },
];

const timeCommands = [
  { weight: 5, of: command("a lease runs out", fc.record({ pick: recent }), expireLeaseOf, fc.constant(time)) },
  { weight: 1, of: command("a key runs out", fc.record({ pick: recent }), expireKeyOf, fc.constant(time)) },
];

function expireLeaseOf({ pick }: { readonly pick: number }, world: World): Step | undefined {
  const job = runningJob(world, pick);
  return job === undefined ? undefined : times.expireLease(job);
}

function expireKeyOf({ pick }: { readonly pick: number }, { transactions }: World): Step | undefined {
  const keys = transactions.view(time).keys();
  const timed = keys.filter(([, { hold, isOver }]) => hold === "time" && !isOver);
  const name = newest(timed, pick)?.[0];
  return name === undefined ? undefined : times.expireKey(name);
}

/** Sequences of at most `longest` commands. */
export function commands(longest: number): fc.Arbitrary<Iterable<Command>> {
  const all = [...transactionCommands, ...producerCommands, ...workerCommands, ...timeCommands, ...operatorCommands];
  const weighted = all.flatMap(({ weight, of }) => Array.from({ length: weight }, () => of));
  return fc.commands<World, Run, false>(weighted, { maxCommands: longest, size: "max", disableReplayLog: true });
}
