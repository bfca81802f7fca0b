import postgres from "postgres";
import { describe, expect, onTestFinished, test } from "vitest";
import { QueueError } from "@queue/core";
import { postgresJsDatabase } from "@queue/postgres-js";
import { useTestDatabase } from "@queue/test-database";

const database = useTestDatabase({ template: "empty" });

function open(options: postgres.Options<Record<string, postgres.PostgresType>> = {}): postgres.Sql {
  const sql = postgres(database.url, { onnotice: () => {}, ...options });
  onTestFinished(() => sql.end({ timeout: 1 }));
  return sql;
}

async function terminate(pid: unknown): Promise<void> {
  await database.pool.query("select pg_terminate_backend($1)", [pid]);
  await expect.poll(async () => (await database.pool.query("select 1 from pg_stat_activity where pid = $1", [pid])).rows).toEqual([]);
}

async function isSleeping(pid: unknown): Promise<boolean> {
  const activity = "select from pg_stat_activity where pid = $1 and state = 'active' and query like '%pg_sleep%'";
  return (await database.pool.query(activity, [pid])).rowCount === 1;
}

describe("a transaction of postgresJsDatabase", () => {
  test("rejects with the error of its body, where postgres.js would put that of a statement that had failed before", async () => {
    let thrown: unknown;
    const failing = postgresJsDatabase(open()).transaction(async (trx) => {
      await trx`select 1 / 0`.catch(() => {});
      await trx`select 1`.catch((error: unknown) => {
        thrown = error;
        throw error;
      });
    });
    await expect(failing).rejects.toSatisfy((error) => error === thrown);
    expect(thrown).toMatchObject({ code: "25P02" });
  });
});

describe("a connection that is lost inside a transaction", () => {
  test.each(["hears of it first", "hears of it last", "swallows it"])(
    "rejects it, and leaves the process and the pool in order, when the body %s",
    async (when) => {
      const sql = open({ max: 1 });
      const db = postgresJsDatabase(sql);
      let pid: unknown;
      const running = db.transaction(async (trx) => {
        pid = (await trx`select pg_backend_pid() as pid`)[0]?.["pid"];
        const sleeping = trx`select pg_sleep(60)`;
        const heard = { "hears of it first": () => sleeping, "hears of it last": () => sleeping.then(() => {}).finally(() => {}) }[when];
        await (heard?.() ?? sleeping.catch(() => {}));
      });
      const outcome = running.catch((error: unknown) => error);
      await expect.poll(() => isSleeping(pid)).toBe(true);
      await terminate(pid);
      expect(await outcome).toMatchObject({ code: "CONNECTION_CLOSED" });
      // postgres.js gives the farewell of the lost session to whoever uses the connection next, once.
      await expect(sql`select 1`).rejects.toMatchObject({ code: "57P01" });
      expect(await db.transaction(async (trx) => (await trx`select 1 as one`)[0])).toEqual({ one: 1 });
    },
  );

  test.each(["resolves", "rejects", "goes on"])("and so it is when the body %s afterwards", async (how) => {
    const sql = open({ max: 1 });
    const db = postgresJsDatabase(sql);
    const seen: unknown[] = [];
    let ended: () => void = () => {};
    const bodyEnded = new Promise<void>((resolve) => (ended = resolve));
    const lost = db.transaction(async (trx, executor) => {
      try {
        const [row] = await trx`select pg_backend_pid() as pid`;
        await terminate(row?.["pid"]);
        await lost.catch((error: unknown) => seen.push(error));
        if (how === "rejects") throw new Error("afterwards");
        if (how === "goes on") await executor.execute({ sql: "select 1", parameters: [] }).catch((error: unknown) => seen.push(error));
      } finally {
        ended();
      }
    });
    await expect(lost).rejects.toMatchObject({ code: "CONNECTION_CLOSED" });
    await bodyEnded;
    expect(seen).toEqual(Array.from({ length: how === "goes on" ? 2 : 1 }, () => expect.objectContaining({ code: "CONNECTION_CLOSED" })));
    expect(await db.transaction(async (trx) => (await trx`select 1 as one`)[0])).toEqual({ one: 1 });
  });
});

test.each([undefined, null, "postgres://localhost", () => {}])("postgresJsDatabase refuses %s", (value) => {
  expect(() => postgresJsDatabase(value as unknown as postgres.Sql)).toThrow(/takes the sql of postgres\(\)/);
});

test("postgresJsDatabase refuses a transaction", async () => {
  const refused = open().begin((trx) => postgresJsDatabase(trx as unknown as postgres.Sql));
  await expect(refused).rejects.toSatisfy((error) => QueueError.is(error, "INVALID_OPTION"));
});
