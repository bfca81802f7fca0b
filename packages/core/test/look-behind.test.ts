import { createQueue, job } from "@queue/core";
import { migrate } from "@queue/core/migrations";
import { useTestDatabase } from "@queue/test-database";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { explain, looksAt, sorts } from "./support/explain.js";
import { kyselyOn } from "./support/kysely-on.js";
import { openSession } from "./support/session.js";
import { workerOn } from "./support/worker-on.js";

const database = useTestDatabase();
let worker: ReturnType<typeof workerOn>;

beforeAll(() => {
  worker = workerOn(kyselyOn(database.pool));
});

beforeEach(async () => {
  await database.pool.query("truncate queue.jobs, queue.lanes");
});

/** 2026-01-01T00:00:00Z, in microseconds since 1970. */
const base = 1_767_225_600_000_000;
const anHour = 3_600_000_000;

interface Given {
  readonly lane?: string;
  readonly priority?: number;
  readonly kind?: string;
  readonly status?: string;
}

/** A job that is due at a microsecond since 1970. */
async function insert(at: number, { lane = "default", priority = 5, kind = "a", status = "queued" }: Given = {}): Promise<void> {
  await database.pool.query(
    `insert into queue.jobs (kind, lane, priority, status, run_at)
     values ($1, $2, $3, $4::queue.job_status, timestamptz 'epoch' + $5::int8 * interval '1 microsecond')`,
    [kind, lane, priority, status, at],
  );
}

const below = (at: number, lane = "default", priority = 5) => ({ lane, priority, below: at });

describe("a look behind", () => {
  test("finds the first job that is due below a line's cursor, to the microsecond", async () => {
    for (const at of [base + 7, base + 3, base + 5]) await insert(at);
    expect(await worker.lookBehind([below(base + 4)])).toEqual([{ lane: "default", priority: 5, run_at: String(base + 3) }]);
    expect(await worker.lookBehind([below(base + 3)])).toEqual([]);
    expect(await worker.lookBehind([below(base + anHour)])).toEqual([{ lane: "default", priority: 5, run_at: String(base + 3) }]);
  });

  test("looks in each line below its own cursor, and in no other line", async () => {
    await insert(base, { lane: "x", priority: 1 });
    await insert(base + 1, { lane: "x", priority: 5 });
    await insert(base + 2, { lane: "y" });
    await insert(base + 3, { lane: "z" });
    const found = await worker.lookBehind([
      below(base + 1, "x", 1),
      below(base + 1, "x", 5),
      below(base + 9, "y"),
      below(base + 9, "none"),
    ]);
    expect(found.toSorted((a, b) => a.lane.localeCompare(b.lane))).toEqual([
      { lane: "x", priority: 1, run_at: String(base) },
      { lane: "y", priority: 5, run_at: String(base + 2) },
    ]);
  });

  test("finds the kinds that the worker can do only", async () => {
    await insert(base, { kind: "other" });
    await insert(base + 1, { kind: "constructor" });
    expect(await worker.lookBehind([below(base + 9)])).toEqual([]);
    expect(await worker.lookBehind([below(base + 9)], [])).toEqual([]);
    expect(await worker.lookBehind([below(base + 9)], ["a", "constructor"])).toMatchObject([{ run_at: String(base + 1) }]);
  });

  test("finds nothing that is not queued, or not yet due", async () => {
    for (const status of ["running", "waiting", "dead"]) await insert(base, { status });
    const inAnHour = Date.now() * 1_000 + anHour;
    await insert(inAnHour);
    expect(await worker.lookBehind([below(inAnHour + anHour)])).toEqual([]);
  });

  test("finds a job that somebody has locked, for the next claim: it reads only, and waits for nobody", async () => {
    await insert(base);
    await using session = await openSession(database.url);
    await session.query("begin");
    await session.query("select from queue.jobs for update");
    expect(await worker.lookBehind([below(base + 1)])).toHaveLength(1);
    await session.query("rollback");
    const { rows } = await database.pool.query("select status, claims from queue.jobs");
    expect(rows).toEqual([{ status: "queued", claims: 0 }]);
  });

  test("finds nothing while another session looks, and again when that has ended", async () => {
    await insert(base);
    await using other = await openSession(database.url);
    await other.query("begin");
    expect(await workerOn(other.executor, { worker: "w2" }).lookBehind([below(base + 1)])).toHaveLength(1);
    expect(await worker.lookBehind([below(base + 1)])).toEqual([]);
    await other.query("commit");
    expect(await worker.lookBehind([below(base + 1)])).toHaveLength(1);
  });

  test("leaves no lock behind, also when there are no lines to look at", async () => {
    expect(await worker.lookBehind([])).toEqual([]);
    const { rows } = await database.pool.query(
      "select from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())",
    );
    expect(rows).toEqual([]);
  });

  test("of the lines of a queue waits for no look of a queue in another schema", async () => {
    const other = createQueue({ jobs: { a: job<number>() }, schema: "other_queue" });
    await migrate(kyselyOn(database.pool), other);
    await insert(base);
    await using session = await openSession(database.url);
    await session.query("begin");
    await workerOn(session.executor, { schema: "other_queue" }).lookBehind([below(base)]);
    expect(await worker.lookBehind([below(base + 1)])).toHaveLength(1);
    await session.query("rollback");
  });

  test("reads the claim index in its order", async () => {
    await database.pool.query(
      "insert into queue.jobs (kind, run_at) select 'a', now() - interval '1 second' * i from generate_series(1, 20000) i",
    );
    await using session = await openSession(database.url);
    const input = { lines: JSON.stringify([below(base), below(base, "other")]), kinds: '{"a"}' };
    for (const generic of [false, true]) {
      const plan = await explain(session, worker.statements.lookBehind, input, generic ? { generic } : {});
      expect([looksAt(plan, "jobs"), sorts(plan)]).toEqual([["jobs_claim"], false]);
    }
  });
});
