import { notificationChannel } from "@queue/core/internal";
import { useTestDatabase } from "@queue/test-database";
import { beforeEach, describe, expect, test } from "vitest";
import { listenTo } from "../support/listener.js";
import { openSession, type Session } from "../support/session.js";
import { functionsOn } from "./support/functions-on.js";

const database = useTestDatabase();
const { claim, enqueue, expire, rows, sweep, valueOf } = functionsOn(() => database.pool);

beforeEach(async () => {
  await database.pool.query("truncate queue.jobs");
});

/** Resolves when a transaction that began before the bell was armed cannot be there any more. */
async function untilSettled(session: Session, xid: unknown): Promise<void> {
  for (let isSettled = false; !isSettled;) {
    isSettled = (await session.query<{ ok: boolean }>("select queue.is_bell_settled($1) as ok", [xid]))[0]?.ok ?? false;
  }
}

describe("the bell", () => {
  test("rings on the channel that the function names, for who has armed it", async () => {
    expect(await valueOf("queue.wake_up_channel()", [])).toBe(notificationChannel("queue"));
    // Only hears: the keys are taken by the function, on another connection.
    await using listener = await listenTo(database.url, "queue", null);
    await enqueue("a");
    expect(await listener.heard()).toEqual([]);
    await using sleeper = await openSession(database.url);
    const [armed] = await sleeper.query("select queue.arm_bell() as xid");
    expect(armed).toEqual({ xid: expect.stringMatching(/^\d+$/) });
    await untilSettled(sleeper, armed?.["xid"]);
    await enqueue("a");
    expect(await listener.heard()).toEqual([expect.stringMatching(/^5@\d+ default$/)]);
    expect(await sleeper.query("select queue.mute_bell() as ok")).toEqual([{ ok: true }]);
    await enqueue("a");
    expect(await listener.heard()).toEqual([]);
  });

  test("rings for the lanes that were named, and for all when they are too many", async () => {
    await using listener = await listenTo(database.url, "queue", null);
    await using sleeper = await openSession(database.url);
    await sleeper.query("select queue.arm_bell(array['mail'])");
    await enqueue("a");
    await enqueue("a", null, { lane: "mail" });
    expect(await listener.heard()).toEqual([expect.stringMatching(/ mail$/)]);
    await sleeper.query("select queue.mute_bell()");
    await sleeper.query("select queue.arm_bell(array(select 'lane ' || n from generate_series(1, 101) n))");
    await enqueue("a");
    expect(await listener.heard()).toEqual([expect.stringMatching(/ default$/)]);
  });

  test("is not settled while a transaction is open that may not have seen it armed", async () => {
    await using old = await openSession(database.url);
    await old.query("begin");
    await old.query("select pg_current_xact_id()");
    await using sleeper = await openSession(database.url);
    const [armed] = await sleeper.query("select queue.arm_bell() as xid");
    expect(await sleeper.query("select queue.is_bell_settled($1) as ok", [armed?.["xid"]])).toEqual([{ ok: false }]);
    await old.query("commit");
    await untilSettled(sleeper, armed?.["xid"]);
  });

  test("is not armed, and nothing is held, while somebody looks at it", async () => {
    const held = () =>
      rows(
        `select from pg_locks where locktype = 'advisory' and mode = 'ShareLock'
            and database = (select oid from pg_database where datname = current_database())`,
      );
    await using looker = await openSession(database.url);
    await looker.query("select pg_advisory_lock(hashtextextended($1, 0))", [`${notificationChannel("queue")}.bell.*`]);
    await using sleeper = await openSession(database.url);
    expect(await sleeper.query("select queue.arm_bell() as xid")).toEqual([{ xid: null }]);
    expect(await held()).toEqual([]);
  });
});

test("what is swept or given back is announced to all, since the trigger rings for new jobs only", async () => {
  await enqueue("a");
  await using listener = await listenTo(database.url, "queue", null);
  const [first] = await claim();
  expect(await listener.heard()).toEqual([]);
  await expire();
  await sweep();
  expect(await listener.heard()).toEqual(["*"]);
  await sweep();
  expect(await listener.heard()).toEqual([]);
  const [second] = await claim();
  expect(await valueOf("queue.release('w1', $1, $2)", [first?.id, second?.fence])).toBe(true);
  expect(await listener.heard()).toEqual(["*"]);
});
