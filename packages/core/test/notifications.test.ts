import { createQueue, job } from "@queue/core";
import { migrate } from "@queue/core/migrations";
import { useTestDatabase } from "@queue/test-database";
import type { Kysely } from "kysely";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { kyselyOn } from "./support/kysely-on.js";
import { listenTo } from "./support/listener.js";
import { rejectionOf } from "./support/thrown-by.js";
import { workerOn } from "./support/worker-on.js";

const database = useTestDatabase();
const queue = createQueue({ jobs: { a: job<string | number>() } });
let db: Kysely<object>;

beforeAll(() => {
  db = kyselyOn<object>(database.pool);
});

beforeEach(async () => {
  await database.pool.query("truncate queue.jobs, queue.job_keys");
});

/** Without the seconds since which the jobs are due; equal ones of two seconds once. */
async function linesHeard(listener: Awaited<ReturnType<typeof listenTo>>): Promise<string[]> {
  return [...new Set((await listener.heard()).map(withoutSecond))];
}

function withoutSecond(payload: string): string {
  return payload.replace(/^(\d)@\d+ /, "$1 ");
}

const items = (count: number, options: (n: number) => object) =>
  Array.from({ length: count }, (_, n) => ({ kind: "a" as const, payload: n, options: options(n) }));

describe("an insert announces its lines", () => {
  test("once for a thousand jobs of one line: priority and lane", async () => {
    await using listener = await listenTo(database.url);
    await queue.enqueueMany(
      db,
      items(1_000, () => ({})),
    );
    expect(await linesHeard(listener)).toEqual(["5 default"]);
    await queue.enqueue(db, "a", 1, { lane: "mail and more", priority: 0 });
    expect(await linesHeard(listener)).toEqual(["0 mail and more"]);
  });

  test("that is due later with ~; one that is due now and later as now", async () => {
    await using listener = await listenTo(database.url);
    await queue.enqueue(db, "a", 1, { delay: "1h" });
    expect(await linesHeard(listener)).toEqual(["~5 default"]);
    await queue.enqueueMany(
      db,
      items(3, (n) => (n === 1 ? {} : { delay: "1h" })),
    );
    expect(await linesHeard(listener)).toEqual(["5 default"]);
  });

  test("with the second since which the first of them is due, so that who has looked beyond it looks there again", async () => {
    await using listener = await listenTo(database.url);
    await database.pool.query(
      "insert into queue.jobs (kind, run_at) select 'a', now() - n * interval '1 hour' from generate_series(1, 3) n",
    );
    const [row] = (
      await database.pool.query<{ second: string }>("select floor(extract(epoch from min(run_at)))::text as second from queue.jobs")
    ).rows;
    expect(await listener.heard()).toEqual([`5@${row?.second} default`]);
  });

  test("each of sixteen lines; of more, that there is work anywhere", async () => {
    await using listener = await listenTo(database.url);
    await queue.enqueueMany(
      db,
      items(16, (n) => ({ lane: `lane ${n}` })),
    );
    expect((await linesHeard(listener)).sort()).toEqual(Array.from({ length: 16 }, (_, n) => `5 lane ${n}`).sort());
    await queue.enqueueMany(
      db,
      items(5_000, (n) => ({ lane: `lane ${n % 50}` })),
    );
    const heard = await linesHeard(listener);
    expect(heard).toContain("*");
    expect(heard.length).toBeLessThanOrEqual(17);
  });

  test("when it commits, not before, and not when it is rolled back (B100)", async () => {
    await using listener = await listenTo(database.url);
    await db.transaction().execute(async (trx) => {
      await queue.enqueue(trx, "a", 1);
      expect(await linesHeard(listener)).toEqual([]);
      await queue.enqueue(trx, "a", 2);
    });
    expect(await linesHeard(listener)).toEqual(["5 default"]);
    await rejectionOf(
      db.transaction().execute(async (trx) => {
        await queue.enqueue(trx, "a", 1);
        throw new Error("no");
      }),
    );
    expect(await linesHeard(listener)).toEqual([]);
  });

  test("not for a duplicate, and not for jobs that wait for something else than their time", async () => {
    await using listener = await listenTo(database.url);
    await queue.enqueue(db, "a", 1, { key: "k" });
    expect(await linesHeard(listener)).toEqual(["5 default"]);
    await queue.enqueue(db, "a", 1, { key: "k" });
    await database.pool.query("insert into queue.jobs (kind, status) values ('a', 'waiting')");
    expect(await linesHeard(listener)).toEqual([]);
  });

  test("from any language that can insert", async () => {
    await using listener = await listenTo(database.url);
    await database.pool.query("insert into queue.jobs (kind, lane, priority) values ('a', 'mail', 1)");
    expect(await linesHeard(listener)).toEqual(["1 mail"]);
  });
});

describe("no notification is too long, and none fails an enqueue (B85, B89)", () => {
  test("a payload of 100 kB is not in it", async () => {
    await using listener = await listenTo(database.url);
    await queue.enqueue(db, "a", "secret".repeat(17_000));
    expect(await linesHeard(listener)).toEqual(["5 default"]);
  });

  test.each([
    ["180 bytes", "\u00fc".repeat(90), `5 ${"\u00fc".repeat(90)}`],
    ["200 bytes", "\u00fc".repeat(100), "*"],
  ])("a lane of %s", async (_name, lane, expected) => {
    await using listener = await listenTo(database.url);
    await queue.enqueue(db, "a", 1, { lane });
    const heard = await listener.heard();
    expect(heard.map(withoutSecond)).toEqual([expected]);
    for (const payload of heard) expect(Buffer.byteLength(payload)).toBeLessThanOrEqual(200);
    expect(await workerOn(db).claim({ lanes: [lane] })).toHaveLength(1);
  });

  test("a lane that somebody wrote by hand, longer than any of ours", async () => {
    await using listener = await listenTo(database.url);
    await database.pool.query("insert into queue.jobs (kind, lane) values ('a', repeat('x', 2000))");
    expect(await linesHeard(listener)).toEqual(["*"]);
  });

  test("5,000 jobs of 50 kinds with long names", async () => {
    const kinds = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`kind-${n}-`.padEnd(200, "x"), job<number>()]));
    const many = createQueue({ jobs: kinds });
    await using listener = await listenTo(database.url);
    const names = Object.keys(kinds);
    await many.enqueueMany(
      db,
      Array.from({ length: 5_000 }, (_, n) => ({ kind: names[n % 50] ?? "", payload: n })),
    );
    expect(await linesHeard(listener)).toEqual(["5 default"]);
  });

  test.each(["q".repeat(63), "MyQueue", "queue-1", "\u03b1".repeat(31), `${"q".repeat(62)}x`])(
    "a schema called %s has a channel of its own",
    async (schema) => {
      await migrate(db, { schema });
      await using mine = await listenTo(database.url, schema);
      await using other = await listenTo(database.url);
      await createQueue({ schema, jobs: { a: job() } }).enqueue(db, "a", null);
      expect(await linesHeard(mine)).toEqual(["5 default"]);
      expect(await linesHeard(other)).toEqual([]);
    },
  );
});

describe("operators ring too", () => {
  test("a cancel names the job; a redrive, a retry and a resume say that there is work; a pause and a dry run are silent", async () => {
    const admin = queue.admin(db);
    const worker = workerOn(db);
    const { id } = await queue.enqueue(db, "a", 1);
    await using listener = await listenTo(database.url);
    await worker.claim();
    await worker.requeue({ [id]: { fence: 1, status: "dead", delayMs: 0, attemptsBack: 0 } });
    await admin.redrive({ all: true, dryRun: true });
    await admin.pause("default");
    expect(await linesHeard(listener)).toEqual([]);
    await admin.redrive({ all: true });
    expect(await linesHeard(listener)).toEqual(["5 default"]);
    await admin.retry(id);
    expect(await linesHeard(listener)).toEqual(["5 default"]);
    await admin.resume("default");
    expect(await linesHeard(listener)).toEqual(["*"]);
    await admin.resume("default");
    expect(await linesHeard(listener)).toEqual([]);
    await admin.cancel(id);
    expect(await linesHeard(listener)).toEqual([`cancel ${id}`]);
  });

  test("a worker that puts jobs back rings once for each line, since the second in which the first of them is due", async () => {
    const worker = workerOn(db);
    await using listener = await listenTo(database.url);
    const ring = (...jobs: readonly (readonly [lane: string, priority: number, run_at: string])[]) =>
      worker.run(worker.statements.ringForJobs, {
        jobs: JSON.stringify(jobs.map(([lane, priority, run_at]) => ({ lane, priority, run_at }))),
      });
    await ring(["mail", 5, "1767225602000000"], ["mail", 5, "1767225600999999"], ["a lane with blanks", 0, "-1000000"]);
    expect((await listener.heard()).toSorted()).toEqual(["0@-1 a lane with blanks", "5@1767225600 mail"]);
    await ring(...Array.from({ length: 17 }, (_, n) => [`l${n}`, 5, "0"] as const));
    expect(await listener.heard()).toEqual(["*"]);
    await ring();
    expect(await listener.heard()).toEqual([]);
  });

  test("a redrive rings once for each line, since the earliest, and for everything when there are too many", async () => {
    const admin = queue.admin(db);
    const bury = (lanes: string) =>
      database.pool.query(
        `insert into queue.jobs (kind, lane, priority, status) select 'a', ${lanes}, i % 2, 'dead' from generate_series(1, 40) i`,
      );
    await using listener = await listenTo(database.url);
    await bury("'mail'");
    await admin.redrive({ all: true });
    expect((await linesHeard(listener)).toSorted()).toEqual(["0 mail", "1 mail"]);
    await bury("'l' || i");
    await admin.redrive({ all: true });
    expect(await linesHeard(listener)).toEqual(["*"]);
    await bury("repeat('l', 181)");
    await admin.redrive({ all: true });
    expect(await linesHeard(listener)).toEqual(["*"]);
    await database.pool.query("truncate queue.jobs");
  });
});
