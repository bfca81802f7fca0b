import type { Claim, ClaimedJob, Fence, Item, Redrive, Settlement } from "./inputs.js";
import type { Job, Key, View } from "./view.js";

/**
 * The life of jobs as a specification: what each command does to which jobs, and what it answers. It knows nothing of SQL, of
 * connections or of storage. A command sees the tables through a {@link View}: what has been committed, and what its own
 * transaction has written. Writing or locking a row that another open transaction has locked is waiting for that one.
 */

const hasEnded = ({ status }: Job) => status === "done" || status === "cancelled";
const keyOf = ({ kind, key }: Pick<Job, "kind" | "key">) => (key === null ? undefined : `${kind}/${key}`);

/** While a key is held, a second job of it is not inserted: the answer is the one that has the key. */
export function enqueue(view: View, items: readonly Item[]): { job: number; inserted: boolean }[] {
  const holders = new Map<string, number>();
  for (const name of items.map(keyOf)) if (name !== undefined && isHeld(view, name)) holders.set(name, view.key(name)?.job ?? 0);
  return items.map(({ isDelayed, ...item }) => {
    const name = keyOf(item);
    const holder = name === undefined ? undefined : holders.get(name);
    if (holder !== undefined) return { job: holder, inserted: false };
    const id = view.newId();
    view.put({ ...item, ...unstarted, id, dueAt: isDelayed ? Infinity : view.now });
    if (name !== undefined) {
      view.putKey(name, { job: id, hold: item.hold ?? "time", isOver: false });
      holders.set(name, id);
    }
    return { job: id, inserted: true };
  });
}

const unstarted = { status: "queued", attempts: 0, claims: 0, redrives: 0, worker: null, lease: null, failures: 0 } as const;

/**
 * Judged by the job that has the key. Where the answer must last until the transaction ends, that job is locked: one that was
 * never claimed, so that it starts after the writes of those that were merged into it; a dead one, so that it does not come
 * back beside the one that takes its key over.
 */
function isHeld(view: View, name: string): boolean {
  const key = view.key(name);
  if (key === undefined || key.isOver) return false;
  if (key.hold === "time") return true;
  const job = view.job(key.job);
  if (job === undefined || hasEnded(job)) return false;
  const isHeldStill = job.status !== "dead" && (key.hold === "ended" || job.claims === 0);
  if (key.hold === "started" ? isHeldStill : !isHeldStill) view.lock(`job ${job.id}`, "shared");
  return isHeldStill;
}

/**
 * Takes due jobs that nobody has locked, the oldest of the first lane first. Which of equally old ones is left open: `taken`
 * says what the database chose.
 *
 * @throws Error when it may not choose so
 */
export function claim(view: View, { worker, kinds, lanes, limit }: Claim, taken: readonly number[]): Job[] {
  const claimable = view
    .jobs()
    .filter(({ status, dueAt, kind }) => status === "queued" && dueAt <= view.begun && kinds.includes(kind))
    .filter(({ id, lane }) => lanes.includes(lane) && !view.isPaused(lane) && view.isFree(`job ${id}`));
  const [mine, left] = [claimable.filter(({ id }) => taken.includes(id)), claimable.filter(({ id }) => !taken.includes(id))];
  const isBefore = (a: Job, b: Job) => (lanes.indexOf(a.lane) - lanes.indexOf(b.lane) || a.dueAt - b.dueAt) < 0;
  const isOutOfTurn = left.some((other) => mine.some((job) => isBefore(other, job)));
  const size = Math.min(limit, claimable.length);
  if (mine.length !== taken.length || taken.length !== size || isOutOfTurn) {
    throw new Error(`The claim took ${list(taken)}; it must take the oldest ${size} of ${list(claimable.map(({ id }) => id))}.`);
  }
  return mine.map((job) => {
    const claimed = { ...job, status: "running", worker, attempts: job.attempts + 1, claims: job.claims + 1, lease: "live" } as const;
    view.put(claimed);
    return claimed;
  });
}

const list = (ids: readonly number[]) => `[${ids.join(", ")}]`;

const passes = (job: Job | undefined, worker: string, { claims }: Fence): job is Job =>
  job?.status === "running" && job.worker === worker && job.claims === claims;

/** Extends leases; skips rows that are being written, whose jobs are held nevertheless. */
export function heartbeat(view: View, worker: string, fences: readonly Fence[]): { job: number; extended: boolean; held: boolean }[] {
  return fences.map((fence) => {
    const job = view.job(fence.job);
    if (!passes(job, worker, fence)) return { job: fence.job, extended: false, held: false };
    const extended = view.isFree(`job ${job.id}`);
    if (extended) view.put({ ...job, lease: "live" });
    return { job: job.id, extended, held: true };
  });
}

/** Writes outcomes; what the fence refuses, or a batch finds locked, is not among the answers, and stays as it is. */
export function settle(view: View, worker: string, claimed: readonly ClaimedJob[], settlement: Settlement): number[] {
  return claimed.flatMap((fence) => {
    const job = view.job(fence.job);
    if (!passes(job, worker, fence) || !(settlement.isOwn || view.isFree(`job ${job.id}`))) return [];
    view.put({ ...job, lease: null, ...after(job, fence.attempts >= fence.maxAttempts, settlement, view.now) });
    return [job.id];
  });
}

function after({ attempts, failures }: Job, isLast: boolean, { outcome, isDelayed }: Settlement, now: number): Partial<Job> {
  const dueAt = isDelayed ? Infinity : now;
  switch (outcome) {
    case "done":
      return { status: "done" };
    case "failed":
      return isLast ? { status: "dead", failures: failures + 1, dueAt: now } : { status: "queued", failures: failures + 1, dueAt };
    case "dead":
      return { status: "dead", failures: failures + 1, dueAt: now };
    case "snoozed":
      return { status: "queued", attempts: attempts - 1, dueAt };
    case "released":
      // A worker that stops is no reason for a job to die: its last attempt is given back.
      return { status: "queued", attempts: attempts - (isLast ? 1 : 0) };
  }
}

const isIdleRunning = (view: View) => (job: Job) => job.status === "running" && view.isFree(`job ${job.id}`);

/** Gives back, with its attempt, what this worker has and does not know of: the answer to its claim was lost. */
export function releaseUnknown(view: View, worker: string, known: readonly number[]): number[] {
  const unknown = view
    .jobs()
    .filter((job) => job.worker === worker && !known.includes(job.id))
    .filter(isIdleRunning(view));
  for (const job of unknown) view.put({ ...job, status: "queued", attempts: job.attempts - 1, lease: null });
  return unknown.map(({ id }) => id);
}

/** Returns jobs whose lease is over, but not the sweeper's own, to the queue while they have attempts, else to the dead letters. */
export function sweep(view: View, except: readonly number[]): { job: number; status: string }[] {
  const expired = view
    .jobs()
    .filter(({ id, lease }) => lease === "over" && !except.includes(id))
    .filter(isIdleRunning(view));
  return expired.map((job) => {
    const status = job.attempts >= job.maxAttempts ? "dead" : "queued";
    const dueAt = status === "dead" ? view.now : job.dueAt;
    view.put({ ...job, status, lease: null, dueAt, failures: job.failures + 1 });
    return { job: job.id, status };
  });
}

/** A job as long as it is somewhere in the tables: some leave nothing when they end. */
function find(view: View, id: number): Job | undefined {
  const job = view.job(id);
  return job !== undefined && (job.isKept || !hasEnded(job)) ? job : undefined;
}

/** Ends a live job, also a running one, whose fence is void from then on. */
export function cancel(view: View, id: number): string {
  const job = find(view, id);
  if (job === undefined) return "JOB_NOT_FOUND";
  if (hasEnded(job)) return job.status === "done" ? "JOB_STATE" : "cancelled";
  view.put({ ...job, status: "cancelled", lease: null });
  return "cancelled";
}

/** Makes a queued job due, and redrives a dead one. */
export function retry(view: View, id: number): string {
  const job = find(view, id);
  if (job === undefined) return "JOB_NOT_FOUND";
  if (job.status === "queued") view.put({ ...job, dueAt: Math.min(job.dueAt, view.now) });
  if (job.status === "queued") return "queued";
  if (job.status !== "dead") return "JOB_STATE";
  return redriveBatch(view, [job], false).length > 0 ? "queued" : "KEY_HELD";
}

/** Returns dead letters to the queue with all their attempts, until `limit` were: those whose key another one holds stay. */
export function redrive(view: View, { kind, lane, limit = Infinity, dryRun }: Redrive): { count: number; conflicts: number[] } {
  const answer = { count: 0, conflicts: [] as number[] };
  const isNamed = (job: Job) => job.status === "dead" && job.kind === (kind ?? job.kind) && job.lane === (lane ?? job.lane);
  for (let last = 0; answer.count < limit;) {
    const size = limit - answer.count;
    const batch = view
      .jobs()
      .filter((job) => isNamed(job) && job.id > last && view.isFree(`job ${job.id}`))
      .slice(0, size);
    const redriven = redriveBatch(view, batch, dryRun);
    answer.count += redriven.length;
    answer.conflicts.push(...batch.map(({ id }) => id).filter((id) => !redriven.includes(id)));
    if (batch.length < size) break;
    last = batch.at(-1)?.id ?? last;
  }
  return answer;
}

/**
 * One whose key another job holds stays dead. Of those that hold their key until they have ended, one comes back, the one that
 * has the key, else the first, and takes the key again.
 */
function redriveBatch(view: View, batch: readonly Job[], dryRun: boolean): number[] {
  for (const { id } of batch) view.lock(`job ${id}`, "exclusive");
  const held = new Set(batch.map(keyOf).filter((name) => name !== undefined && isHeld(view, name)));
  const holderOf = (job: Job) => view.key(keyOf(job) ?? "")?.job;
  const isFirst = (job: Job) => {
    const rivals = batch.filter((other) => other.hold === "ended" && keyOf(other) === keyOf(job)).map(({ id }) => id);
    const holder = holderOf(job) ?? 0;
    return job.hold !== "ended" || job.id === (rivals.includes(holder) ? holder : rivals[0]);
  };
  const redriven = batch.filter((job) => isFirst(job) && (holderOf(job) === job.id || !held.has(keyOf(job))));
  for (const job of dryRun ? [] : redriven) {
    const name = keyOf(job);
    if (name !== undefined && job.hold === "ended") view.putKey(name, { job: job.id, hold: "ended", isOver: false });
    view.put({ ...job, status: "queued", attempts: 0, redrives: job.redrives + 1, dueAt: view.now });
  }
  return redriven.map(({ id }) => id);
}

/** Forgets keys whose time is over, and those held by an event whose job is gone. */
export function deleteEnded(view: View): number {
  const isGone = (job: Job | undefined) => job === undefined || hasEnded(job);
  const isEnded = ({ hold, isOver, job }: Key) => isOver || (hold !== "time" && isGone(view.job(job)));
  const ended = view.keys().filter(([name, key]) => isEnded(key) && view.isFree(`key ${name}`));
  for (const [name] of ended) view.putKey(name, undefined);
  return ended.length;
}

/** No worker claims from a lane that is paused; what runs goes on. */
export function pause(view: View, lane: string): void {
  view.setPaused(lane, true);
}

export function resume(view: View, lane: string): void {
  if (view.isPaused(lane)) view.setPaused(lane, false);
}

/** What only time does. */
export function expireLease(view: View, id: number): void {
  const job = view.job(id);
  if (job?.status === "running") view.put({ ...job, lease: "over" });
}

export function expireKey(view: View, name: string): void {
  const key = view.key(name);
  if (key?.hold === "time") view.putKey(name, { ...key, isOver: true });
}
