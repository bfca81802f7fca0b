import { migrate } from "@queue/core/migrations";
import { useTestDatabase } from "@queue/test-database";
import pg from "pg";
import { afterEach, describe, expect, test } from "vitest";
import { allSteps } from "./support/all-steps.js";
import { catalogueOf, schemasOf } from "./support/catalogue.js";
import { kyselyOn } from "./support/kysely-on.js";
import { rejectionOf } from "./support/thrown-by.js";

const database = useTestDatabase({ template: "empty" });
const count = 10;

afterEach(async () => {
  await database.pool.query("drop schema if exists queue cascade");
});

async function expectMigratedOnce(): Promise<void> {
  const { rows } = await database.pool.query("select name from queue.migrations order by name");
  expect(rows).toEqual(allSteps.map((name) => ({ name })));
}

describe("B109: ten processes that start at the same moment", () => {
  test("on an empty database all succeed, and one of them does the work, in each of ten rounds", async () => {
    const pools = Array.from({ length: count }, () => database.newPool({ max: 1 }));
    await Promise.all(pools.map((pool) => pool.query("select 1")));
    for (let round = 0; round < 10; round++) {
      const results = await Promise.all(pools.map((pool) => migrate(kyselyOn(pool))));
      expect(results.filter(({ applied }) => applied.length > 0)).toHaveLength(1);
      await expectMigratedOnce();
      await database.pool.query("drop schema queue cascade");
    }
    await Promise.all(pools.map((pool) => pool.end()));
  });

  test("survive that the one at work is killed in the middle: the next one does it from the beginning", async () => {
    // Not a pool of the test database: the one that is killed must not be waited for.
    const victim = new PausingPool({ connectionString: database.url, max: 1 });
    victim.on("error", () => {});
    const killed = rejectionOf(migrate(kyselyOn(victim)));
    const pid = await victim.paused;
    const others = Array.from({ length: count - 1 }, () => database.newPool({ max: 1 }));
    const migrations = others.map((pool) => migrate(kyselyOn(pool)));
    await untilWaiting(others.length);
    expect(await schemasOf(database.pool)).toEqual(["public"]);
    await database.pool.query("select pg_terminate_backend($1)", [pid]);
    victim.resume();
    expect(await killed).toBeInstanceOf(Error);
    const results = await Promise.all(migrations);
    expect(results.filter(({ applied }) => applied.length > 0)).toHaveLength(1);
    await expectMigratedOnce();
    await Promise.all([victim.end(), ...others.map((pool) => pool.end())]);
  });

  test("leave the old state when the last one is killed, and the next call finishes", async () => {
    await migrate(kyselyOn(database.pool));
    const whole = await catalogueOf(database.pool, "queue");
    await database.pool.query("drop schema queue cascade");
    const victim = new PausingPool({ connectionString: database.url, max: 1 });
    victim.on("error", () => {});
    const killed = rejectionOf(migrate(kyselyOn(victim)));
    await database.pool.query("select pg_terminate_backend($1)", [await victim.paused]);
    victim.resume();
    await killed;
    await victim.end();
    expect(await schemasOf(database.pool)).toEqual(["public"]);
    await migrate(kyselyOn(database.pool));
    expect(await catalogueOf(database.pool, "queue")).toEqual(whole);
  });
});

/** All of them wait for the lock of the migration. */
async function untilWaiting(wanted: number): Promise<void> {
  for (;;) {
    const { rows } = await database.pool.query<{ waiting: number }>(
      "select count(*)::int as waiting from pg_locks where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())",
    );
    if (rows[0]?.waiting === wanted) return;
  }
}

/** Stops before it sends the creation of the archive, in the middle of the migration, and says on which connection. */
class PausingPool extends pg.Pool {
  readonly paused: Promise<number>;
  resume = () => {};
  #pause: (pid: number) => void = () => {};

  constructor(config: pg.PoolConfig) {
    super(config);
    this.paused = new Promise((resolve) => {
      this.#pause = resolve;
    });
    const resumed = new Promise<void>((resolve) => {
      this.resume = resolve;
    });
    this.on("connect", (client) => {
      client.on("error", () => {});
      const query = client.query.bind(client) as (text: unknown, values: unknown) => Promise<unknown>;
      Object.assign(client, {
        query: async (text: unknown, values: unknown) => {
          if (String(text).includes("jobs_archive (")) {
            this.#pause((client as unknown as { processID: number }).processID);
            await resumed;
          }
          return query(text, values);
        },
      });
    });
  }
}
