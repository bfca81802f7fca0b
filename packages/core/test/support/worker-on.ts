import type { EnqueueTarget } from "@queue/core";
import {
  type ClaimAnswer,
  type ClaimedRow,
  type ClaimGroup,
  createWorkerStatements,
  readClaimAnswer,
  type Requeue,
  runStatement,
  type Statement,
  toArrayLiteral,
  toExecutor,
} from "@queue/core/internal";
import type { ReleasedKeysWalk } from "../../src/store/delete-released-keys.js";

export interface ClaimOptions {
  readonly limit?: number;
  readonly kinds?: readonly string[];
  /** One group of lines at priority 5, that may take as much as the claim. */
  readonly lanes?: readonly string[];
  readonly groups?: readonly ClaimGroup[];
  readonly leaseMs?: number;
}

/** The fence of a claim. */
export interface Claimed {
  readonly id: string;
  readonly claims: number;
}

export function line(lane: string, priority = 5, since: string | null = null, since_id = "0") {
  return { lane, priority, since, since_id };
}

/** What a worker named `worker` sends through `target`. */
export function workerOn(target: EnqueueTarget, { worker = "w1", schema = "queue" } = {}) {
  const executor = toExecutor(target);
  const statements = createWorkerStatements(schema);
  const run = <TInput, TRow>(statement: Statement<TInput, TRow>, input: TInput) => runStatement(executor, statement, input);
  const list = (values: readonly (string | number)[]) => `{${values.join(",")}}`;
  function completeInput(jobs: readonly Claimed[], keepMs: number | null) {
    return {
      ids: list(jobs.map(({ id }) => id)),
      fences: list(jobs.map(({ claims }) => claims)),
      keeps: list(jobs.map(() => keepMs ?? -1)),
      worker,
    };
  }
  async function complete(statement: typeof statements.completeJobs, jobs: readonly Claimed[], keepMs: number | null): Promise<string[]> {
    return (await run(statement, completeInput(jobs, keepMs))).map(({ id }) => id);
  }
  async function requeue(statement: typeof statements.requeueJobs, jobs: Readonly<Record<string, Requeue>>): Promise<string[]> {
    return (await run(statement, { jobs: JSON.stringify(jobs), worker })).map(({ id }) => id);
  }
  function claimInput({ limit = 10, kinds = ["a"], lanes = ["default"], groups, leaseMs = 60_000 }: ClaimOptions) {
    const given = groups ?? [{ take: limit, lines: lanes.map((lane) => line(lane)) }];
    return { groups: JSON.stringify(given), kinds: toArrayLiteral(kinds), limit, worker, leaseMs };
  }
  return {
    statements,
    run,
    claim: async (options: ClaimOptions = {}): Promise<ClaimedRow[]> =>
      readClaimAnswer(await run(statements.claimJobs, claimInput(options))).claimed,
    /** The claim with all that it says. */
    claimAnswer: async (options: ClaimOptions = {}): Promise<ClaimAnswer> =>
      readClaimAnswer(await run(statements.claimJobs, claimInput(options))),
    /** Both in one statement. */
    completeAndClaim: async (
      jobs: readonly Claimed[],
      { keepMs = 60_000, ...options }: ClaimOptions & { readonly keepMs?: number | null } = {},
    ): Promise<ClaimAnswer> =>
      readClaimAnswer(await run(statements.completeAndClaim, { ...completeInput(jobs, keepMs), ...claimInput(options) })),
    /** What a batch writes, which skips locked rows. */
    complete: (jobs: readonly Claimed[], keepMs: number | null = 60_000) => complete(statements.completeJobs, jobs, keepMs),
    requeue: (jobs: Readonly<Record<string, Requeue>>) => requeue(statements.requeueJobs, jobs),
    /** What a handler's transaction writes, which waits for locked rows. */
    completeOwn: (jobs: readonly Claimed[], keepMs: number | null = 60_000) => complete(statements.completeOwnJobs, jobs, keepMs),
    requeueOwn: (jobs: Readonly<Record<string, Requeue>>) => requeue(statements.requeueOwnJobs, jobs),
    /** In the order of the ids. */
    async extend(jobs: readonly Claimed[], leaseMs = 60_000) {
      const rows = await run(statements.extendLeases, {
        ids: list(jobs.map(({ id }) => id)),
        fences: list(jobs.map(({ claims }) => claims)),
        worker,
        leaseMs,
      });
      return rows.sort((a, b) => Number(a.id) - Number(b.id));
    },
    sweep: (limit = 100) => run(statements.returnExpiredJobs, { limit, except: "{}", withinMs: null }),
    /** All of it: what a limit leaves to the next call, and the walk over the keys that an event releases. */
    async deleteEnded(limit = 100) {
      const [counts] = await run(statements.deleteEnded, { limit });
      let keys = Number(counts?.keys);
      for (let [afterKind, afterKey]: (string | null)[] = ["", ""]; afterKind != null && afterKey != null;) {
        const [walk]: ReleasedKeysWalk[] = await run(statements.deleteReleasedKeys, { afterKind, afterKey, limit });
        keys += Number(walk?.deleted);
        [afterKind, afterKey] = [walk?.kind ?? null, walk?.key ?? null];
      }
      return { keys: String(keys), effects: counts?.effects, archived: counts?.archived };
    },
    maintainArchive: async () => (await run(statements.maintainArchive, {}))[0]?.changes,
    /** `below`: microseconds since 1970, for each line. */
    lookBehind: (lines: readonly { lane: string; priority: number; below: number }[], kinds: readonly string[] = ["a"]) =>
      run(statements.lookBehind, { lines: JSON.stringify(lines), kinds: toArrayLiteral(kinds) }),
    lookAhead: (kinds: readonly string[] = ["a"], known: readonly { lane: string; priority: number }[] = []) =>
      run(statements.lookAhead, { known: JSON.stringify(known), kinds: toArrayLiteral(kinds) }),
  };
}
