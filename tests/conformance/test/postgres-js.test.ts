import { fromPostgresJs, postgresJsDatabase, postgresJsListener } from "@queue/postgres-js";
import { useTestDatabase } from "@queue/test-database";
import { type Adapter, describeConformance, describeListener } from "@queue/testing/conformance";
import postgres from "postgres";

const database = useTestDatabase({ template: "empty" });

describeListener("@queue/postgres-js", async () => ({
  url: database.url,
  listener: ({ url, connectTimeoutMs, applicationName, ...options }) =>
    postgresJsListener(url, {
      connect_timeout: connectTimeoutMs === undefined ? undefined : connectTimeoutMs / 1_000,
      ...(applicationName === undefined ? {} : { connection: { application_name: applicationName } }),
      ...options,
    }),
  run: async (sql, parameters) => (await database.pool.query(sql, [...parameters])).rows,
  whenTerminated: {
    loss: { message: "The server closed the connection." },
    statement: { code: "DATABASE_ERROR", isRetryable: true },
  },
  close: async () => {},
}));

/** What a body throws that has done its part and wants it undone. */
const rollback = new Error("rolled back as wanted");

async function open(options: postgres.Options<Record<string, postgres.PostgresType>>): Promise<Adapter<postgres.TransactionSql>> {
  const sql = postgres(database.url, { onnotice: () => {}, ...options });
  return {
    db: postgresJsDatabase(sql),
    listener: postgresJsListener(database.url),
    inHandler: fromPostgresJs,
    executorInTransaction: (fn, { commit }) =>
      sql
        .begin(async (trx) => {
          await fn(fromPostgresJs(trx));
          if (!commit) throw rollback;
        })
        .catch((error: unknown) => {
          if (error !== rollback) throw error;
        }),
    nested: (trx, fn) => trx.savepoint(fn),
    close: () => sql.end(),
  };
}

describeConformance("@queue/postgres-js", () => open({}));
describeConformance("postgres-js, nothing prepared", () => open({ prepare: false }));
describeConformance("postgres-js, in camel case", () => open({ transform: postgres.camel }));
