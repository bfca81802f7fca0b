import postgres from "postgres";
import { describe, expect, onTestFinished, test } from "vitest";
import { createQueue, job, QueueError } from "@queue/core";
import { fromPostgresJs, postgresJsDatabase } from "@queue/postgres-js";
import { useTestDatabase } from "@queue/test-database";
import { createWorker } from "@queue/worker";

const database = useTestDatabase();
const queue = createQueue({ jobs: { note: job<string>() } });

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
  test("is at READ COMMITTED and may write, whatever the defaults of the database are", async () => {
    const sql = open({ connection: { default_transaction_isolation: "serializable", default_transaction_read_only: true } });
    const seen = await postgresJsDatabase(sql).transaction(async (trx) => [
      ...(await trx`select current_setting('transaction_isolation') as isolation, current_setting('transaction_read_only') as read_only`),
    ]);
    expect(seen).toEqual([{ isolation: "read committed", read_only: "off" }]);
  });

  test("hands out what its body resolves to as it is, also an array of promises", async () => {
    const promises = [Promise.resolve(1)];
    const result = await postgresJsDatabase(open()).transaction(async () => ({ promises }));
    expect(result.promises).toBe(promises);
  });

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

  test("rejects when a statement has failed and nobody said it", async () => {
    const failing = postgresJsDatabase(open()).transaction(async (trx) => {
      await trx`select 1 / 0`.catch(() => {});
    });
    await expect(failing).rejects.toMatchObject({ code: "22012" });
  });

  test("gives its connection back: fifty failures leave a pool of two as it was", async () => {
    const sql = open({ max: 2 });
    const db = postgresJsDatabase(sql);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 50 }, (_, n) =>
        db.transaction(async (trx, executor) => {
          await queue.enqueue(executor, "note", "lost");
          if (n % 3 === 0) await trx`select 1 / 0`;
          if (n % 3 === 1) await trx.savepoint((inner) => inner`select 1 / 0`).catch(() => {});
          throw new Error(`failure ${n}`);
        }),
      ),
    );
    expect(outcomes.filter(({ status }) => status === "rejected")).toHaveLength(50);
    const both = await Promise.all([1, 2].map((n) => db.transaction((trx) => trx`select ${n}::int as n`.then(([row]) => row?.["n"]))));
    expect(both).toEqual([1, 2]);
    expect((await database.pool.query("select from queue.jobs")).rowCount).toBe(0);
  });

  test("works without prepared statements", async () => {
    const db = postgresJsDatabase(open({ prepare: false }));
    const { id } = await db.transaction((_trx, executor) => queue.enqueue(executor, "note", "a"));
    expect(await queue.admin(db).job(id)).toMatchObject({ payload: "a" });
    await queue.admin(db).cancel(id);
  });
});

describe("a connection that is lost inside a transaction", () => {
  test.each(["first", "last"])("rejects it, and leaves the process and the pool in order, when the body hears of it %s", async (when) => {
    const sql = open({ max: 1 });
    const db = postgresJsDatabase(sql);
    let pid: unknown;
    const running = db.transaction(async (trx) => {
      pid = (await trx`select pg_backend_pid() as pid`)[0]?.["pid"];
      const sleeping = trx`select pg_sleep(60)`;
      await (when === "first" ? sleeping : sleeping.then(() => {}).finally(() => {}));
    });
    const outcome = running.catch((error: unknown) => error);
    await expect.poll(() => isSleeping(pid)).toBe(true);
    await terminate(pid);
    expect(await outcome).toMatchObject({ code: "CONNECTION_CLOSED" });
    // postgres.js gives the farewell of the lost session to whoever uses the connection next, once.
    await expect(sql`select 1`).rejects.toMatchObject({ code: "57P01" });
    expect(await db.transaction(async (trx) => (await trx`select 1 as one`)[0])).toEqual({ one: 1 });
  });

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

test("a transactional handler writes through the TransactionSql of postgres.js", async () => {
  const sql = open();
  const db = postgresJsDatabase(sql);
  await sql`create table shipped (note text)`;
  await queue.enqueue(db, "note", "first");
  const worker = createWorker({
    queue,
    db,
    concurrency: 1,
    handlers: {
      note: {
        transactional: true,
        run: async ({ payload }, { trx }) => {
          await trx`insert into shipped ${trx({ note: payload })}`;
          await trx.savepoint((inner) => inner`insert into shipped values ('inner')`);
          if (payload === "first") await queue.enqueue(fromPostgresJs(trx), "note", "second");
        },
      },
    },
  });
  await worker.runUntilIdle();
  expect([...(await sql`select note from shipped`)]).toEqual([{ note: "first" }, { note: "inner" }, { note: "second" }, { note: "inner" }]);
});

test.each([undefined, null, "postgres://localhost", () => {}])("postgresJsDatabase refuses %s", (value) => {
  expect(() => postgresJsDatabase(value as unknown as postgres.Sql)).toThrow(/takes the sql of postgres\(\)/);
});

test("postgresJsDatabase refuses a transaction", async () => {
  const refused = open().begin((trx) => postgresJsDatabase(trx as unknown as postgres.Sql));
  await expect(refused).rejects.toSatisfy((error) => QueueError.is(error, "INVALID_OPTION"));
});
