import { useTestDatabase } from "@queue/test-database";
import { Kysely, PostgresDialect, sql } from "kysely";
import { describe, expect, it } from "vitest";
import { createQueue, job } from "../src/index.js";
import { type JobState, jobLife } from "../src/job/job-life.js";
import { toExecutor } from "../src/ports/kysely-like.js";
import { createAdminStatements } from "../src/store/admin-statements.js";
import { runStatement } from "../src/store/statement.js";
import { createWorkerStatements } from "../src/store/worker-statements.js";

const states = ["queued", "running", "dead", "done", "cancelled"] as const;
const worker = "w";

describe("the life of a job", () => {
  const database = useTestDatabase();
  const queue = createQueue({ jobs: { a: job() } });
  const statements = { ...createWorkerStatements("queue"), ...createAdminStatements("queue") };

  it("is moved by every statement as the list of transitions says, and in no other way", async () => {
    const db = new Kysely<Record<string, never>>({ dialect: new PostgresDialect({ pool: database.pool }) });
    const executor = toExecutor(db);

    async function stateOf(id: string): Promise<JobState | undefined> {
      return (await sql<{ status: JobState }>`select status from queue.all_jobs where id = ${id}`.execute(db)).rows[0]?.status;
    }

    async function jobIn(state: JobState, attempts: number): Promise<string> {
      const { id } = await queue.enqueue(db, "a", null);
      if (state === "running") {
        await sql`update queue.jobs set status = 'running', claims = 1, attempts = ${attempts}, worker = ${worker},
          locked_until = clock_timestamp() - interval '1 second' where id = ${id}`.execute(db);
      } else if (state === "dead") {
        await sql`update queue.jobs set status = 'dead', claims = 1, attempts = 8 where id = ${id}`.execute(db);
      } else if (state === "done" || state === "cancelled") {
        await runStatement(executor, statements.cancelJob, { id, keeps: "{}", defaultKeepMs: 60_000 });
        await sql`update queue.jobs_archive set status = ${state}::queue.archive_status where id = ${id}`.execute(db);
      }
      return id;
    }

    const requeue = (status: "queued" | "dead") => (id: string) =>
      runStatement(executor, statements.requeueJobs, {
        jobs: JSON.stringify({ [id]: { fence: 1, status, delayMs: 0, attemptsBack: 0 } }),
        worker,
      });
    const groups = JSON.stringify([{ take: 9, lines: [{ lane: "default", priority: 5, since: null, since_id: "0" }] }]);
    const filter = { kind: null, lane: null, deadAfter: null, after: "-1", limit: 1, isApplied: true };
    const moves: [statement: string, move: (id: string) => Promise<unknown>][] = [
      ["claimJobs", () => runStatement(executor, statements.claimJobs, { groups, kinds: "{a}", limit: 9, worker, leaseMs: 60_000 })],
      [
        "completeJobs",
        (id) => runStatement(executor, statements.completeJobs, { ids: `{${id}}`, fences: "{1}", keeps: "{60000}", worker }),
      ],
      ["requeueJobs", requeue("queued")],
      ["requeueJobs", requeue("dead")],
      ["returnExpiredJobs", () => runStatement(executor, statements.returnExpiredJobs, { limit: 9, except: "{}", withinMs: null })],
      ["releaseUnknownJobs", () => runStatement(executor, statements.releaseUnknownJobs, { worker, known: "{}", until: null })],
      [
        "refundAttempts",
        async (id) => {
          const entry = JSON.stringify([{ name: "LeaseExpired", worker, attempt: 8 }]);
          await sql`update queue.jobs set errors = ${entry}::jsonb where id = ${id}`.execute(db);
          await runStatement(executor, statements.refundAttempts, { ids: `{${id}}`, attempts: "{8}", worker });
        },
      ],
      ["redriveJobs", (id) => runStatement(executor, statements.redriveJobs, { id, ...filter })],
      ["cancelJob", (id) => runStatement(executor, statements.cancelJob, { id, keeps: "{}", defaultKeepMs: 60_000 })],
      ["retryJob", (id) => runStatement(executor, statements.retryJob, { id })],
      ["extendLeases", (id) => runStatement(executor, statements.extendLeases, { ids: `{${id}}`, fences: "{1}", worker, leaseMs: 1_000 })],
      ["deleteEnded", () => runStatement(executor, statements.deleteEnded, { limit: 9 })],
      ["lookAhead", () => runStatement(executor, statements.lookAhead, { known: "[]", kinds: "{a}" })],
    ];

    const seen = new Set<string>();
    for (const [statement, move] of moves) {
      for (const from of states) {
        for (const attempts of [1, 8]) {
          await sql`truncate queue.jobs, queue.jobs_archive`.execute(db);
          const id = await jobIn(from, attempts);
          await move(id);
          const to = await stateOf(id);
          if (to !== from) seen.add(`${from} → ${to} by ${statement}`);
        }
      }
    }

    const listed = jobLife.filter(({ from }) => from !== undefined).map(({ from, to, statement }) => `${from} → ${to} by ${statement}`);
    expect([...seen].sort()).toEqual(listed.sort());
  });
});
