import type { Client, ClientBase, ClientConfig, NeonQueryFunction, Pool, PoolClient } from "@neondatabase/serverless";
import { expectTypeOf, test } from "vitest";
import { createQueue, job } from "@queue/core";
import type { AdapterDatabase, Executor } from "@queue/core/adapter";
import { fromNeon, neonDatabase, neonListener } from "@queue/neon";
import { createWorker } from "@queue/worker";

declare const client: Client;
declare const clientBase: ClientBase;
declare const poolClient: PoolClient;
declare const pool: Pool;
declare const http: NeonQueryFunction<false, false>;

test("fromNeon takes every client, and no pool", () => {
  expectTypeOf(fromNeon(client)).toEqualTypeOf<Executor>();
  expectTypeOf(fromNeon(clientBase)).toEqualTypeOf<Executor>();
  expectTypeOf(fromNeon(poolClient)).toEqualTypeOf<Executor>();
  // @ts-expect-error a Pool has no transaction that the job could be in
  fromNeon(pool);
  // @ts-expect-error HTTP has none either
  fromNeon(http);
  // @ts-expect-error a forgotten await
  fromNeon(pool.connect());
});

test("transactional handlers get the PoolClient of the driver", () => {
  expectTypeOf(neonDatabase(pool)).toEqualTypeOf<AdapterDatabase<PoolClient>>();
  createWorker({
    queue: createQueue({ jobs: { note: job<string>() } }),
    db: neonDatabase(pool),
    handlers: { note: { transactional: true, run: async (_job, { trx }) => expectTypeOf(trx).toEqualTypeOf<PoolClient>() && undefined } },
  });
});

test("neonListener takes any configuration of the driver, with a duration for keepAlive", () => {
  const config: Omit<ClientConfig, "keepAlive"> = { connectionString: "postgres://localhost" };
  neonListener(config);
  neonListener({ host: "db", port: 5432, keepAlive: "5s" });
  neonListener({ connectionString: process.env["DATABASE_URL"] });
  // @ts-expect-error not a duration
  neonListener({ keepAlive: "5 seconds" });
  // @ts-expect-error no option of the driver
  neonListener({ conectionString: "postgres://localhost" });
});
