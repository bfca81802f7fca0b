import { createQueue, job } from "@queue/core";
import type { Requeue } from "@queue/core/internal";
import { useTestDatabase } from "@queue/test-database";
import type { Kysely } from "kysely";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { about } from "./support/close-to.js";
import { kyselyOn } from "./support/kysely-on.js";
import { workerOn } from "./support/worker-on.js";

const database = useTestDatabase();
const queue = createQueue({ jobs: { a: job<number>() } });
const error = { name: "TypeError", message: "x is not a function", stack: "TypeError: x\n  at y" };
let db: Kysely<object>;
let worker: ReturnType<typeof workerOn>;

beforeAll(() => {
  db = kyselyOn<object>(database.pool);
  worker = workerOn(db);
});

beforeEach(async () => {
  await database.pool.query("truncate queue.jobs");
});

async function run(): Promise<string> {
  await queue.enqueue(db, "a", 1, { maxAttempts: 2_000 });
  const [claimed] = await worker.claim({ limit: 1 });
  return claimed?.id ?? "";
}

interface Row {
  readonly status: string;
  readonly attempts: number;
  readonly claims: number;
  readonly worker: string | null;
  readonly locked_until: Date | null;
  readonly last_error: string | null;
  readonly errors: readonly object[];
  readonly delay_s: number;
}

async function rowOf(id: string): Promise<Row | undefined> {
  const { rows } = await database.pool.query<Row>(
    `select status, attempts, claims, worker, locked_until, last_error, errors,
            extract(epoch from run_at - clock_timestamp())::float8 as delay_s from queue.jobs where id = $1`,
    [id],
  );
  return rows[0];
}

const requeue = (id: string, how: Partial<Requeue>) =>
  worker.requeue({ [id]: { fence: 1, status: "queued", delayMs: 0, attemptsBack: 0, ...how } });

describe("an attempt that is not done", () => {
  test("and failed waits for its retry, with the error in its history", async () => {
    const id = await run();
    expect(await requeue(id, { delayMs: 5_000.5, error })).toEqual([id]);
    expect(await rowOf(id)).toEqual({
      status: "queued",
      attempts: 1,
      claims: 1,
      worker: "w1",
      locked_until: null,
      last_error: error.message,
      errors: [{ ...error, attempt: 1, at: expect.any(String), worker: "w1" }],
      delay_s: about(5),
    });
    const record = await queue.admin(db).job(id);
    expect(record).toMatchObject({
      status: "queued",
      lastError: error.message,
      errors: [{ ...error, attempt: 1, worker: "w1" }],
      finishedAt: null,
    });
    expect(Math.abs((record?.errors[0]?.at.getTime() ?? 0) - Date.now())).toBeLessThan(5_000);
  });

  test("and failed for good is dead: run_at is the moment of its death", async () => {
    const id = await run();
    await requeue(id, { status: "dead", error });
    expect(await rowOf(id)).toMatchObject({ status: "dead", attempts: 1, locked_until: null, delay_s: about(0) });
    expect((await queue.admin(db).job(id))?.finishedAt).toBeInstanceOf(Date);
    expect(await worker.claim()).toEqual([]);
  });

  test("and was snoozed has its attempt back, no error, and its fence goes on", async () => {
    const id = await run();
    await requeue(id, { delayMs: 60_000, attemptsBack: 1 });
    expect(await rowOf(id)).toMatchObject({ status: "queued", attempts: 0, claims: 1, last_error: null, errors: [], delay_s: about(60) });
    await database.pool.query("update queue.jobs set run_at = now()");
    expect(await worker.claim()).toMatchObject([{ id, attempts: 1, claims: 2 }]);
  });

  test("and was given back is due at once, not before the moment of the write", async () => {
    const id = await run();
    await requeue(id, {});
    const { rows } = await database.pool.query("select run_at >= started_at as later, run_at <= clock_timestamp() as due from queue.jobs");
    expect(rows).toEqual([{ later: true, due: true }]);
    expect(await worker.claim()).toMatchObject([{ id, attempts: 2 }]);
  });

  test("keeps the last error when a later attempt ends without one", async () => {
    const id = await run();
    await requeue(id, { error });
    await worker.claim();
    await requeue(id, { fence: 2, attemptsBack: 1 });
    expect(await rowOf(id)).toMatchObject({ last_error: error.message, attempts: 1 });
  });

  test("keeps twenty failures, the newest", async () => {
    const id = await run();
    for (let attempt = 1; attempt <= 25; attempt++) {
      await requeue(id, { fence: attempt, error: { name: "Error", message: `failure ${attempt}` } });
      await worker.claim();
    }
    const row = await rowOf(id);
    expect(row?.errors).toHaveLength(20);
    expect(row?.errors.map((entry) => (entry as { attempt: number }).attempt)).toEqual(Array.from({ length: 20 }, (_, n) => n + 6));
    expect(row?.last_error).toBe("failure 25");
  });

  test("B02: an error text without NUL is stored as it is, in any language", async () => {
    const id = await run();
    const message = "bad \uFFFD byte \uD83E\uDD81 \"quoted\" 'it' \\ $1 {}\n";
    await requeue(id, { error: { name: "Error", message } });
    expect(await rowOf(id)).toMatchObject({ last_error: message, errors: [{ message }] });
  });

  test("B49: at attempt 1100 of 2000 the failure is recorded like any other", async () => {
    const id = await run();
    await database.pool.query("update queue.jobs set attempts = 1100");
    await requeue(id, { delayMs: 43_200_000, error });
    expect(await rowOf(id)).toMatchObject({ status: "queued", attempts: 1_100, delay_s: about(43_200) });
  });

  test("a delay of a hundred years is a date like any other", async () => {
    const id = await run();
    expect(await requeue(id, { delayMs: 3_155_760_000_000 })).toEqual([id]);
    expect(await rowOf(id)).toMatchObject({ delay_s: about(3_155_760_000) });
  });
});

describe("the fence", () => {
  test.each<[name: string, spoil: string]>([
    ["another worker has it", "update queue.jobs set worker = 'w2'"],
    ["it was claimed again", "update queue.jobs set claims = claims + 1"],
    ["it is queued", "update queue.jobs set status = 'queued'"],
    ["it is dead", "update queue.jobs set status = 'dead'"],
    ["it has no worker", "update queue.jobs set worker = null"],
  ])("lets nothing through when %s", async (_name, spoil) => {
    const id = await run();
    await database.pool.query(spoil);
    const before = (await database.pool.query("select * from queue.jobs")).rows;
    expect(await requeue(id, { error, delayMs: 5_000 })).toEqual([]);
    expect(await requeue(id, { status: "dead", error })).toEqual([]);
    expect((await database.pool.query("select * from queue.jobs")).rows).toEqual(before);
  });

  test("a snooze that is repeated gives the attempt back once", async () => {
    const id = await run();
    expect(await requeue(id, { attemptsBack: 1 })).toEqual([id]);
    expect(await requeue(id, { attemptsBack: 1 })).toEqual([]);
    expect(await rowOf(id)).toMatchObject({ attempts: 0 });
  });

  test("a batch takes each by its own fence and outcome", async () => {
    const ids = [await run(), await run(), await run()];
    const [retried, died, lost] = ids as [string, string, string];
    const recorded = await worker.requeue({
      [died]: { fence: 1, status: "dead", delayMs: 0, attemptsBack: 0, error },
      [lost]: { fence: 7, status: "dead", delayMs: 0, attemptsBack: 0 },
      [retried]: { fence: 1, status: "queued", delayMs: 9_000, attemptsBack: 0 },
    });
    expect(recorded.sort()).toEqual([retried, died].sort());
    expect((await rowOf(retried))?.status).toBe("queued");
    expect((await rowOf(died))?.status).toBe("dead");
    expect((await rowOf(lost))?.status).toBe("running");
    expect(await worker.requeue({})).toEqual([]);
  });
});
