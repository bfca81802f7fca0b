import type pg from "pg";
import { expectTypeOf, test } from "vitest";
import type { Executor } from "@queue/core/adapter";
import { fromPg, pgListener } from "@queue/pg";

declare const client: pg.Client;
declare const poolClient: pg.PoolClient;
declare const clientBase: pg.ClientBase;
declare const pool: pg.Pool;

test("fromPg takes every client, and no pool", () => {
  expectTypeOf(fromPg(client)).toEqualTypeOf<Executor>();
  expectTypeOf(fromPg(poolClient)).toEqualTypeOf<Executor>();
  expectTypeOf(fromPg(clientBase)).toEqualTypeOf<Executor>();
  // @ts-expect-error a Pool has no transaction that the job could be in
  fromPg(pool);
  // @ts-expect-error a forgotten await
  fromPg(pool.connect());
});

test("pgListener takes any configuration of pg, with a duration for keepAlive", () => {
  const config: pg.ClientConfig = { connectionString: "postgres://localhost", keepAlive: true };
  pgListener(config);
  pgListener({ host: "db", port: 5432, ssl: { rejectUnauthorized: true }, keepAlive: "5s" });
  pgListener({ connectionString: process.env["DATABASE_URL"] });
  pgListener();
  // @ts-expect-error not a duration
  pgListener({ keepAlive: "5 seconds" });
  // @ts-expect-error no option of pg
  pgListener({ conectionString: "postgres://localhost" });
});
