import type postgres from "postgres";
import { expectTypeOf, test } from "vitest";
import { createQueue, job } from "@queue/core";
import type { AdapterDatabase, Executor } from "@queue/core/adapter";
import { fromPostgresJs, postgresJsDatabase, postgresJsListener } from "@queue/postgres-js";
import { createWorker } from "@queue/worker";

declare const sql: postgres.Sql;
declare const typedSql: postgres.Sql<{ bigint: bigint }>;
declare const trx: postgres.TransactionSql;
declare const typedTrx: postgres.TransactionSql<{ bigint: bigint }>;
declare const reserved: postgres.ReservedSql;

test("fromPostgresJs takes transactions and reserved connections, and nothing else", () => {
  expectTypeOf(fromPostgresJs(trx)).toEqualTypeOf<Executor>();
  expectTypeOf(fromPostgresJs(typedTrx)).toEqualTypeOf<Executor>();
  expectTypeOf(fromPostgresJs(reserved)).toEqualTypeOf<Executor>();
  // @ts-expect-error it has no transaction that the job could be in
  fromPostgresJs(sql);
  // @ts-expect-error a forgotten await
  fromPostgresJs(sql.reserve());
});

test("transactional handlers get the transaction of postgres.js, with its custom types", () => {
  expectTypeOf(postgresJsDatabase(sql)).toEqualTypeOf<AdapterDatabase<postgres.TransactionSql>>();
  expectTypeOf(postgresJsDatabase(typedSql)).toEqualTypeOf<AdapterDatabase<postgres.TransactionSql<{ bigint: bigint }>>>();
  createWorker({
    queue: createQueue({ jobs: { note: job<string>() } }),
    db: postgresJsDatabase(typedSql),
    handlers: {
      note: {
        transactional: true,
        run: async (_job, ctx) => {
          expectTypeOf(ctx.trx).toEqualTypeOf<postgres.TransactionSql<{ bigint: bigint }>>();
          await ctx.trx`select ${1n}`;
        },
      },
    },
  });
});

test("postgresJsListener takes a URL, options, or both", () => {
  postgresJsListener();
  postgresJsListener(process.env["DATABASE_URL"]);
  postgresJsListener("postgres://localhost", { keepAlive: "5s", ssl: "require" });
  postgresJsListener({ host: "db", port: 5432, keepAlive: 5_000, connect_timeout: 5 });
  // @ts-expect-error not a duration
  postgresJsListener({ keepAlive: "5 seconds" });
  // @ts-expect-error a listener has one connection
  postgresJsListener({ max: 2 });
});
