import { coreTest, workerTest } from "../killers.js";
import type { Mutant } from "../mutant.js";

const settler = "packages/worker/src/settle/settler.ts";
const settlerTest = "packages/worker/src/settle/settler.test.ts";
const requeueJobs = "packages/core/src/store/requeue-jobs.ts";
const archiveColumns =
  "run_at, created_at, started_at, claims, attempts, max_attempts, redrives, priority, lane, kind, idempotency_key, worker, last_error, errors, payload";

/** How an attempt's outcome comes into the table. */
export const settleMutants: readonly Mutant[] = [
  {
    name: "done-jobs-not-archived",
    breaks: "A job that is done is in the archive.",
    file: "packages/core/src/store/complete-jobs.ts",
    find: "m.keep >= 0",
    replace: "m.keep < 0",
    killers: [coreTest("complete")],
    tests: "moves to the archive",
  },
  {
    name: "archived-before-it-is-deleted",
    breaks: "A job leaves the table and comes into the archive by one statement: it is never in both, and never in neither.",
    file: "packages/worker/src/exchange/exchange.ts",
    find: "const { database, statements, worker } = this.#options;",
    replace: `const { database, statements, worker } = this.#options;
    if (completions !== undefined) {
      const { ids, keeps } = completions.input;
      await database.executor.execute({
        sql: \`insert into queue.jobs_archive (id, status, finished_at, keep_until, ${archiveColumns})
          select j.id, 'done', clock_timestamp(), clock_timestamp() + interval '1 day', ${archiveColumns}
            from queue.jobs j join unnest($1::text::int8[], $2::text::int8[]) u(id, keep) on u.id = j.id where u.keep::int8 >= 0\`,
        parameters: [ids, keeps],
      });
      completions = { ...completions, input: { ...completions.input, keeps: keeps.replace(/-?\\d+/g, "-1") } };
    }`,
    killers: [workerTest("archive-move")],
  },
  {
    name: "snooze-costs-an-attempt",
    breaks: "A snooze gives its attempt back.",
    file: requeueJobs,
    find: "attempts: sql<number>`j.attempts - (${entry}->>'attemptsBack')::int4`",
    replace: "attempts: sql<number>`j.attempts`",
    killers: [coreTest("requeue")],
  },
  {
    name: "snooze-says-it-costs-an-attempt",
    breaks: "A snooze gives its attempt back.",
    file: "packages/worker/src/settle/to-requeue.ts",
    find: 'return { fence, status: "queued", delayMs: outcome.delayMs, attemptsBack: 1 };',
    replace: 'return { fence, status: "queued", delayMs: outcome.delayMs, attemptsBack: 0 };',
    killers: ["packages/worker/src/settle/to-requeue.test.ts", workerTest("outcomes")],
    tests: "snooze",
  },
  {
    name: "retry-at-once",
    breaks: "A job that failed waits for its retry.",
    file: requeueJobs,
    find: "+ (${entry}->>'delayMs')::float8 * interval '1 millisecond'",
    replace: "",
    killers: [coreTest("requeue")],
  },
  {
    name: "failure-without-history",
    breaks: "Every failure is in the job's history.",
    file: requeueJobs,
    find: "case when pg_catalog.jsonb_exists(${entry}, 'error')",
    replace: "case when false",
    killers: [coreTest("requeue")],
  },
  {
    name: "history-without-end",
    breaks: "A job that fails for days keeps the last twenty failures, and does not grow for ever.",
    file: "packages/core/src/store/error-history.ts",
    find: "then j.errors - 0",
    replace: "then j.errors",
    killers: [coreTest("requeue")],
  },
  {
    name: "settler-without-retry",
    breaks: "An outcome that could not be written is written later: no handler runs twice for a deadlock or a lost connection.",
    file: settler,
    find: "if (this.#isAbandoned) return this.#giveUp(batch); const failure",
    replace: "if (tries > 0) return this.#giveUp(batch); const failure",
    killers: [settlerTest],
    tests: "B45: tries a batch again",
  },
  {
    name: "settler-holds-back-for-one",
    breaks: "One outcome that the database refuses for good holds back no other.",
    file: settler,
    find: "if (isRefused && batch.length > 1) {",
    replace: "if (batch.length === 0) {",
    killers: [workerTest("lost-connections")],
    tests: "refused for good holds back no other",
  },
  {
    name: "settler-writes-for-the-lost",
    breaks: "Nothing is written for an attempt that is lost.",
    file: settler,
    find: "return batch.filter(({ attempt }) => !attempt.isLost);",
    replace: "return [...batch];",
    killers: [settlerTest],
    tests: "writes nothing for an attempt that is lost",
  },
  {
    name: "settler-in-the-order-of-texts",
    breaks: "All statements lock jobs in the order of their ids as numbers.",
    file: settler,
    find: "x.length - y.length || ",
    replace: "",
    killers: [settlerTest],
    tests: "in the order of the ids as numbers",
  },
  {
    name: "settler-a-statement-for-each",
    breaks: "Handlers that end in the same turn share one statement.",
    file: settler,
    find: "await Promise.resolve();",
    replace: "",
    killers: [settlerTest],
    tests: "all of one turn together",
  },
  {
    name: "second-outcome-written",
    breaks: "The first outcome counts: a job that was given back is not told of again when its handler returns.",
    file: "packages/worker/src/run/job-flow.ts",
    find: "if (attempt.isHandedOver) return;",
    replace: "",
    killers: [workerTest("stop")],
    tests: "told of once",
  },
  {
    name: "permanent-errors-retried",
    breaks: "A PermanentError is the end at the first attempt.",
    file: "packages/worker/src/run/decide-outcome.ts",
    find: "if (isPermanentError(thrown)) return",
    replace: "if (attempt > maxAttempts) return",
    killers: ["packages/worker/src/run/decide-outcome.test.ts"],
  },
  {
    name: "failures-never-kill",
    breaks: "A job is dead after its last attempt.",
    file: "packages/worker/src/run/decide-outcome.ts",
    find: 'if (attempt >= maxAttempts) return { type: "dead", thrown, error, isExhausted: true };',
    replace: "",
    killers: ["packages/worker/src/run/decide-outcome.test.ts"],
  },
  {
    name: "one-attempt-too-many",
    breaks: "A job is dead after exactly its attempts.",
    file: "packages/worker/src/run/decide-outcome.ts",
    find: "attempt >= maxAttempts",
    replace: "attempt > maxAttempts",
    killers: ["packages/worker/src/run/decide-outcome.test.ts"],
  },
  {
    name: "named-delay-ignored",
    breaks: "A RetryAfterError names the delay.",
    file: "packages/worker/src/run/decide-outcome.ts",
    find: "retryAfterMs(thrown) ?? ",
    replace: "",
    killers: ["packages/worker/src/run/decide-outcome.test.ts"],
  },
  {
    name: "retry-without-jitter",
    breaks: "Jobs that failed together do not come back together.",
    file: "packages/core/src/schedule/backoff.ts",
    find: "return random() * ",
    replace: "return ",
    killers: ["packages/core/src/schedule/backoff.test.ts"],
  },
  {
    name: "retry-without-backoff",
    breaks: "Every retry waits longer on average than the one before.",
    file: "packages/core/src/schedule/backoff.ts",
    find: "baseMs * 2 ** Math.min(Math.max(attempt, 1) - 1, 64)",
    replace: "baseMs",
    killers: ["packages/core/src/schedule/backoff.test.ts"],
  },
  {
    name: "backoff-without-cap",
    breaks: "No retry waits longer than the cap.",
    file: "packages/core/src/schedule/backoff.ts",
    find: "return Math.min(capMs, baseMs * 2 ** Math.min(Math.max(attempt, 1) - 1, 64));",
    replace: "return baseMs * 2 ** Math.min(Math.max(attempt, 1) - 1, 64);",
    killers: ["packages/core/src/schedule/backoff.test.ts"],
  },
  {
    name: "lock-timeouts-are-for-good",
    breaks: "A lock timeout, a deadlock or a serialization failure is worth another try.",
    file: "packages/worker/src/database/database.ts",
    find: '["08", "25", "40", "53", "55", "57"]',
    replace: '["08", "53", "57"]',
    killers: ["packages/worker/src/database/database.test.ts"],
  },
];
