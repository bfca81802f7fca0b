import { coreTest, workerTest } from "../killers.js";
import type { Mutant } from "../mutant.js";

const claimJobs = "packages/core/src/store/claim-jobs.ts";

/** What a claim takes, in which order, and what it leaves alone. */
export const claimMutants: readonly Mutant[] = [
  {
    name: "claim-waits-for-locked-jobs",
    breaks: "A claim skips what another transaction has locked, and waits for nobody.",
    file: claimJobs,
    find: ".skipLocked()",
    replace: "",
    killers: [coreTest("claim")],
    tests: "skips what another transaction",
    isWaiting: true,
  },
  {
    name: "claim-locks-nothing",
    breaks: "Two claims at the same moment never take one job.",
    file: claimJobs,
    find: ".forNoKeyUpdate() .skipLocked()",
    replace: "",
    killers: [coreTest("claim-race")],
  },
  {
    name: "claim-before-the-time",
    breaks: "No job is claimed before it is due.",
    file: claimJobs,
    find: '.where("j.run_at", "<=", transactionTimestamp)',
    replace: "",
    killers: [coreTest("claim")],
  },
  {
    name: "claim-of-any-kind",
    breaks: "A worker claims the kinds that it has handlers for, and no others.",
    file: claimJobs,
    find: '.where(isOfKinds(p.texts("kinds")))',
    replace: "",
    killers: [coreTest("claim")],
  },
  {
    name: "kinds-read-for-each-row",
    breaks: "A worker with a thousand kinds claims as fast as one with ten.",
    file: "packages/core/src/store/of-kinds.ts",
    find: "j.kind in (select pg_catalog.unnest(${kinds}))",
    replace: "j.kind = any(${kinds})",
    killers: [coreTest("plans")],
    tests: "by a hash",
  },
  {
    name: "claim-from-paused-lanes",
    breaks: "Nothing is claimed from a lane that is paused.",
    file: claimJobs,
    find: ".where(isNotPaused(schema))",
    replace: "",
    killers: [coreTest("claim"), workerTest("lanes")],
    tests: "paused",
  },
  {
    name: "claim-ignores-priorities",
    breaks: "A claim takes what is first by priority, whatever its age.",
    file: claimJobs,
    find: '.whereRef("j.priority", "=", "l.priority")',
    replace: "",
    killers: [coreTest("claim")],
    tests: "priority",
  },
  {
    name: "claim-in-the-order-of-ids",
    breaks: "A claim takes what has been due for the longest, not what was enqueued first.",
    file: claimJobs,
    find: '.orderBy("j.run_at")',
    replace: "",
    killers: [coreTest("claim-order")],
  },
  {
    name: "claim-over-its-limit",
    breaks: "A claim takes no more jobs than there are slots for.",
    file: claimJobs,
    find: '.limit(p.int("limit"))',
    replace: "",
    killers: [coreTest("claim")],
  },
  {
    name: "claim-over-the-ceiling-of-a-lane",
    breaks: "Lines that share a ceiling give no more than it from all of them together.",
    file: claimJobs,
    find: '.limit(sql<number>`g.take`) .as("x"),',
    replace: '.as("x"),',
    killers: [coreTest("claim")],
  },
  {
    name: "claim-without-its-cursor",
    breaks: "A claim does not look at what is before its cursor.",
    file: claimJobs,
    find: "(j.run_at, j.id) >= (coalesce(",
    replace: "(j.run_at, j.id) is not null or (j.run_at, j.id) >= (coalesce(",
    killers: [coreTest("claim")],
  },
  {
    name: "attempt-not-counted",
    breaks: "Every start of a handler is an attempt, counted before it begins.",
    file: claimJobs,
    find: "least(j.attempts, 999999999) + 1",
    replace: "j.attempts",
    killers: [coreTest("claim")],
  },
  {
    name: "claim-without-lease",
    breaks: "A claimed job has a lease: a worker that dies does not keep it.",
    file: claimJobs,
    find: 'locked_until: sql<Date>`${clockTimestamp} + ${p.interval("leaseMs")}`',
    replace: "locked_until: sql.lit(null)",
    killers: [coreTest("claim"), workerTest("leases")],
    tests: "takes a lease|worker that died",
  },
  {
    name: "claim-committed-after-the-handler",
    breaks: "A claim commits before its handlers run: while they do, no transaction of ours is open and no lock is held.",
    file: "packages/worker/src/database/database.ts",
    find: "const { clock, fallback } = this.#options; const instead",
    replace: `    if (statement.sql.includes('"candidates"')) {
      return new Promise((resolve, reject) => {
        this.executor.transaction(async (_trx, executor) => {
          const rows = await runStatement(executor, statement, input);
          resolve(rows);
          if (rows.length > 0) await new Promise((over) => setTimeout(over, 1_000));
        }).catch(reject);
      });
    }
    const { clock, fallback } = this.#options;
    const instead`,
    killers: [workerTest("outcomes")],
    tests: "has done its job, once",
  },
  {
    name: "claims-of-a-lost-answer-forgotten",
    breaks: "What a claim took whose answer was lost is given back before the next claim.",
    file: "packages/worker/src/fetch/fetcher.ts",
    find: "if (this.#unanswered > this.#underWay) {",
    replace: "if (this.#underWay < 0) {",
    killers: ["packages/worker/src/fetch/fetcher-claims.test.ts", workerTest("lost-connections")],
    tests: "keeps others from being sent|to a claim: its jobs",
  },
  {
    name: "lost-claim-costs-an-attempt",
    breaks: "An attempt whose handler was never started is given back.",
    file: "packages/core/src/store/release-unknown-jobs.ts",
    find: "attempts: sql<number>`j.attempts - 1`",
    replace: "attempts: sql<number>`j.attempts`",
    killers: [coreTest("leases")],
  },
  {
    name: "claim-at-the-default-isolation",
    breaks: "A worker works where the database's default isolation is above READ COMMITTED.",
    file: "packages/worker/src/database/database.ts",
    find: 'this.#needsTransaction = rows[0]?.isolation !== "read committed" || rows[0].read_only === "on";',
    replace: "this.#needsTransaction = rows.length === 0;",
    killers: ["packages/worker/src/database/database.test.ts", workerTest("database-defaults")],
    tests: "Database|read-only",
  },
];
