import { useTestDatabase } from "@queue/test-database";
import { beforeEach, describe, expect, test } from "vitest";
import { openSession, untilBlocked } from "../support/session.js";
import { rejectionOf } from "../support/thrown-by.js";
import { functionsOn } from "./support/functions-on.js";

const database = useTestDatabase();
const { enqueue, enqueueMany, claim, rows } = functionsOn(() => database.pool);

beforeEach(async () => {
  await database.pool.query("truncate queue.jobs, queue.jobs_archive, queue.job_keys");
});

const jobs = () =>
  rows(
    `select kind, lane, priority, max_attempts, payload, idempotency_key as key, key_release, status,
            extract(epoch from run_at - created_at)::float8 as waits from queue.jobs order by id`,
  );

describe("enqueue", () => {
  test("needs a kind and nothing else: the defaults are those of TypeScript", async () => {
    expect(await rows("select * from queue.enqueue('a')")).toEqual([{ id: expect.any(String), inserted: true }]);
    expect(await jobs()).toEqual([
      {
        kind: "a",
        lane: "default",
        priority: 5,
        max_attempts: 8,
        payload: null,
        key: null,
        key_release: null,
        status: "queued",
        waits: expect.any(Number),
      },
    ]);
  });

  test("takes every option, by the names and in the forms of TypeScript", async () => {
    await enqueue("a", { n: 1 }, { lane: "mail", priority: 0, maxAttempts: 3, delay: "10m", key: "k", keyHolds: "until-ended" });
    await enqueue("b", [1], { lane: null, delay: 1500, key: "k", keyHolds: "1.5h" });
    await enqueue("c", "text", { runAt: "2100-01-01T01:00:00+01:00", key: "k" });
    const [first, second, third] = await jobs();
    expect(first).toMatchObject({
      kind: "a",
      lane: "mail",
      priority: 0,
      max_attempts: 3,
      payload: { n: 1 },
      key: "k",
      key_release: "ended",
    });
    expect(first?.["waits"]).toBeCloseTo(600, 1);
    expect(second).toMatchObject({ kind: "b", lane: "default", payload: [1], key_release: null });
    expect(second?.["waits"]).toBeCloseTo(1.5, 1);
    expect(third).toMatchObject({ kind: "c", payload: "text" });
    expect(await rows("select run_at = '2100-01-01T00:00Z' as is_then from queue.jobs where kind = 'c'")).toEqual([{ is_then: true }]);
    const holds = await rows<{ kind: string; hours: number }>(
      "select kind, extract(epoch from expires_at - now()) / 3600 as hours from queue.job_keys where release_on is null order by kind",
    );
    expect(Number(holds[0]?.hours)).toBeCloseTo(1.5, 1);
    expect(Number(holds[1]?.hours)).toBeCloseTo(720, 1);
  });

  test("is part of the caller's transaction", async () => {
    await using session = await openSession(database.url);
    await session.query("begin");
    await session.query("select queue.enqueue('a')");
    await session.query("rollback");
    expect(await jobs()).toEqual([]);
    await session.query("begin");
    await session.query("select queue.enqueue('a')");
    await session.query("commit");
    expect(await jobs()).toHaveLength(1);
  });

  test("gives the first id for a key that is held, and inserts nothing", async () => {
    const first = await enqueue("a", 1, { key: "k" });
    expect(await enqueue("a", 2, { key: "k" })).toEqual({ id: first.id, inserted: false });
    expect(await enqueue("b", 3, { key: "k" })).toMatchObject({ inserted: true });
    expect((await jobs()).map(({ payload }) => payload)).toEqual([1, 3]);
  });

  test("a key that holds until-started is free once the job is claimed", async () => {
    const options = { key: "k", keyHolds: "until-started" };
    const first = await enqueue("a", 1, options);
    expect(await enqueue("a", 2, options)).toEqual({ id: first.id, inserted: false });
    await claim();
    expect(await enqueue("a", 3, options)).toMatchObject({ inserted: true });
  });

  test.each([
    ["which holds it", false],
    ["which a worker has begun, so that it is free again", true],
  ])("asks again when a key went to a rival's job meanwhile, %s", async (_what, isBegun) => {
    const options = `'{"key": "k", "keyHolds": "until-started"}'`;
    await enqueue("a", 0, { key: "k", keyHolds: "until-started" });
    await claim();
    await using rival = await openSession(database.url);
    await using late = await openSession(database.url);
    await rival.query("begin");
    const [won] = await rival.query<{ id: string }>(`select id from queue.enqueue('a', '1', ${options})`);
    // By hand: it is not due yet for a claim of the transaction that it came in.
    if (isBegun) await rival.query("update queue.jobs set status = 'running', claims = 1 where id = $1", [won?.id]);
    const asking = late.query(
      `select id, inserted from queue.enqueue_many(('[{"kind": "b"}, {"kind": "a", "payload": 2, "options": ' || ${options} || '}]')::jsonb) order by item`,
    );
    await untilBlocked(database.pool, late, asking);
    await rival.query("commit");
    const [other, answer] = await asking;
    expect(other).toMatchObject({ inserted: true });
    expect(answer).toEqual(isBegun ? { id: expect.not.stringMatching(`^${won?.id}$`), inserted: true } : { id: won?.id, inserted: false });
  });
});

describe("enqueue_many", () => {
  test("answers each item in its place, also when a key comes twice or is held", async () => {
    const held = await enqueue("a", 0, { key: "held" });
    const answers = await enqueueMany([
      { kind: "a", payload: 1, options: { key: "k" } },
      { kind: "b", options: { priority: 9 } },
      { kind: "a", payload: 2, options: { key: "k" } },
      { kind: "a", payload: 3, options: { key: "held" } },
    ]);
    const [first] = answers;
    expect(answers).toEqual([
      { item: 0, id: expect.any(String), inserted: true },
      { item: 1, id: expect.any(String), inserted: true },
      { item: 2, id: first?.id, inserted: false },
      { item: 3, id: held.id, inserted: false },
    ]);
    expect((await jobs()).map(({ payload }) => payload)).toEqual([0, 1, null]);
  });

  test("takes a thousand in their order, and none at all", async () => {
    const answers = await enqueueMany(Array.from({ length: 1_000 }, (_, n) => ({ kind: "a", payload: n })));
    expect(answers.map(({ item }) => item)).toEqual(Array.from({ length: 1_000 }, (_, n) => n));
    expect((await jobs()).map(({ payload }) => payload)).toEqual(Array.from({ length: 1_000 }, (_, n) => n));
    expect(await enqueueMany([])).toEqual([]);
  });

  test("is refused as a whole for one bad item, which it names", async () => {
    const error = await rejectionOf(enqueueMany([{ kind: "a" }, { kind: "a", options: { priority: 10 } }]));
    expect(error).toMatchObject({ code: "22023", message: "Item 1: priority must be a whole number from 0 to 9, but is 10." });
    expect(await jobs()).toEqual([]);
  });

  test.each<[items: string | null, message: string]>([
    [null, 'enqueue_many takes a JSON array of {"kind": ..., "payload": ..., "options": ...}, but was given null.'],
    ["{}", 'enqueue_many takes a JSON array of {"kind": ..., "payload": ..., "options": ...}, but was given {}.'],
    ["[1]", "Item 0 must be a JSON object, but is 1."],
    ['[{"payload": 1}]', "Item 0: kind is missing: it must be a string of 1 to 200 bytes."],
    ['[{"kind": 7}]', "Item 0: kind must be a string, but is 7."],
    ['[{"kind": "a", "lane": "x"}]', 'Item 0: an item has no "lane". It has: kind, payload, options.'],
  ])("refuses %s", async (items, message) => {
    expect(await rejectionOf(rows("select * from queue.enqueue_many($1::text::jsonb)", [items]))).toMatchObject({ code: "22023", message });
  });
});

describe("what cannot be is refused with a sentence", () => {
  const most = "from 0 ms to 3155760000000 ms";
  test.each<[options: object | string, message: string]>([
    ["[]", "the options of enqueue must be a JSON object, but are []."],
    [{ dealy: 5 }, 'enqueue has no option "dealy". It has: key, keyHolds, delay, runAt, priority, maxAttempts, lane.'],
    [{ delay: 1, runAt: "2100-01-01T00:00:00Z" }, "delay and runAt contradict each other: give one of them."],
    [{ keyHolds: "1h" }, "keyHolds says how long a key is held, but there is no key."],
    [{ delay: -1 }, `delay must be ${most}, but is -1.`],
    [{ delay: 1.5 }, 'delay must be whole milliseconds or a number with a unit ("250ms", "30s", "5m", "1h", "7d"), but is 1.5.'],
    [{ delay: "soon" }, 'delay must be whole milliseconds or a number with a unit ("250ms", "30s", "5m", "1h", "7d"), but is "soon".'],
    [{ delay: "36526d" }, `delay must be ${most}, but is "36526d".`],
    [{ key: "k", keyHolds: 0 }, "keyHolds must be from 1 ms to 3155760000000 ms, but is 0."],
    [{ priority: 10 }, "priority must be a whole number from 0 to 9, but is 10."],
    [{ priority: "5" }, 'priority must be a whole number from 0 to 9, but is "5".'],
    [{ maxAttempts: 0 }, "maxAttempts must be a whole number from 1 to 2147483647, but is 0."],
    [{ maxAttempts: 2_147_483_648 }, "maxAttempts must be a whole number from 1 to 2147483647, but is 2147483648."],
    [{ lane: "" }, 'lane must be a string of 1 to 200 bytes, but is "".'],
    [{ lane: 5 }, "lane must be a string, but is 5."],
    [{ lane: "ä".repeat(101) }, `lane must be a string of 1 to 200 bytes, but is "${"ä".repeat(100)}".`],
    [{ key: "k".repeat(1_001) }, `key must be a string of 1 to 1000 bytes, but is "${"k".repeat(100)}".`],
    ...["tomorrow", "2100-01-01", "2100-01-01T00:00:00", "2100-13-01T00:00:00Z", 5].map((runAt): [object, string] => [
      { runAt },
      `runAt must be a moment with its offset ("2030-01-31T08:00:00Z", "2030-01-31T08:00:00+01:00"), but is ${JSON.stringify(runAt)}.`,
    ]),
  ])("%j", async (options, message) => {
    const text = typeof options === "string" ? options : JSON.stringify(options);
    const error = await rejectionOf(rows("select * from queue.enqueue('a', 'null', $1::text::jsonb)", [text]));
    expect(error).toMatchObject({ code: "22023", message });
  });

  test.each<[kind: string | null, message: string]>([
    [null, "kind is missing: it must be a string of 1 to 200 bytes."],
    ["", 'kind must be a string of 1 to 200 bytes, but is "".'],
    ["k".repeat(201), `kind must be a string of 1 to 200 bytes, but is "${"k".repeat(100)}".`],
  ])("a kind that is %j", async (kind, message) => {
    expect(await rejectionOf(rows("select * from queue.enqueue($1)", [kind]))).toMatchObject({ code: "22023", message });
  });

  test("a payload that is no JSON, or too long", async () => {
    expect(await rejectionOf(rows("select * from queue.enqueue('a', $1)", ["{no"]))).toMatchObject({ code: "22P02" });
    const error = await rejectionOf(rows("select * from queue.enqueue('a', to_jsonb(repeat('x', 16777216)))"));
    expect(error).toMatchObject({ code: "22023", message: expect.stringContaining("store the data elsewhere and enqueue its id") });
  });

  test("an option of another name than the function's arguments, by the server", async () => {
    expect(await rejectionOf(rows("select * from queue.enqueue(kind => 'a', option => '{}')"))).toMatchObject({ code: "42883" });
  });
});
