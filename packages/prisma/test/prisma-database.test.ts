import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { QueueError } from "@queue/core";
import type { Executor } from "@queue/core/adapter";
import { prismaDatabase } from "@queue/prisma";
import { useTestDatabase } from "@queue/test-database";
import { type GeneratedClient, generateClient, table } from "./generate-client.js";
import { openClient, type TestClient } from "./generated-client.js";

const database = useTestDatabase({ template: "empty" });
let generated: GeneratedClient;
let prisma: TestClient;

beforeAll(async () => {
  generated = await generateClient();
  await database.pool.query(table.replace("primary key", "primary key deferrable initially deferred"));
  const url = new URL(database.url);
  url.searchParams.set("options", "-c default_transaction_read_only=on -c default_transaction_isolation=serializable");
  const transactionOptions = { maxWait: 1, timeout: 1, isolationLevel: "RepeatableRead" };
  prisma = await openClient(generated.file, { url: url.href, max: 2, transactionOptions });
});
afterAll(async () => {
  await prisma?.$disconnect();
  await generated?.remove();
});

const data = (id: string) => ({ data: { id, status: "new" } });
const ids = async (): Promise<string[]> => (await prisma.order.findMany({ orderBy: { id: "asc" } })).map(({ id }) => id);

/** Returns when the transaction is older than the time limits that the client has. */
async function outlastLimits(executor: Executor): Promise<void> {
  const sql = "select clock_timestamp() > now() + interval '100 milliseconds' as over";
  for (let isOver = false; !isOver;) isOver = (await executor.execute<{ over: boolean }>({ sql, parameters: [] })).rows[0]?.over === true;
}

describe("prismaDatabase", () => {
  test("begins transactions at READ COMMITTED that may write, whatever the defaults, and commits what Prisma and the executor wrote", async () => {
    const seen = await prismaDatabase(prisma).transaction(async (tx, executor) => {
      await tx.order.create(data("a"));
      await executor.execute({ sql: "insert into orders values ($1::text, '')", parameters: ["b"] });
      return tx.$queryRawUnsafe("select current_setting('transaction_isolation') as level");
    });
    expect(seen).toEqual([{ level: "read committed" }]);
    expect(await ids()).toEqual(["a", "b"]);
  });

  test("keeps a transaction open, and waits for a connection, beyond the limits of the client", async () => {
    const db = prismaDatabase(prisma);
    const results = Array.from({ length: 4 }, (_, n) =>
      db.transaction(async (_tx, executor) => {
        await outlastLimits(executor);
        return n;
      }),
    );
    expect(await Promise.all(results)).toEqual([0, 1, 2, 3]);
  });

  test.each([
    ["an error", new Error("no stock")],
    ["a text", "no stock"],
    ["nothing", undefined],
  ])("rejects with what its callback rejected with: %s", async (_name, thrown) => {
    const transaction = prismaDatabase(prisma).transaction(async (tx) => {
      await tx.order.create(data("lost"));
      throw thrown;
    });
    expect(
      await transaction.then(
        () => "resolved",
        (error: unknown) => ({ error }),
      ),
    ).toEqual({ error: thrown });
    expect(await ids()).not.toContain("lost");
  });

  test("rejects with the callback's error when the connection is lost, too", async () => {
    const thrown = new Error("no stock");
    const transaction = prismaDatabase(prisma).transaction(async (_tx, executor) => {
      await executor.execute({ sql: "select pg_terminate_backend(pg_backend_pid())::text", parameters: [] }).catch(() => {});
      throw thrown;
    });
    expect(await transaction.catch((error: unknown) => error)).toBe(thrown);
    expect(await ids()).toEqual(["a", "b"]);
  });

  test("rejects when the commit fails", async () => {
    const transaction = prismaDatabase(prisma).transaction((tx) => tx.order.create(data("a")));
    await expect(transaction).rejects.toBeInstanceOf(Error);
  });

  test("gives its two connections back after fifty failures of each sort", async () => {
    const db = prismaDatabase(prisma);
    const failing = { sql: "select 1 / 0", parameters: [] };
    const failures = await Promise.allSettled(
      Array.from({ length: 50 }, () => [
        db.execute(failing),
        db.transaction((_tx, executor) => executor.execute(failing)),
        db.transaction((tx) => tx.order.create(data("a"))),
        db.transaction(async () => {
          throw new Error("no stock");
        }),
      ]).flat(),
    );
    expect(new Set(failures.map(({ status }) => status))).toEqual(new Set(["rejected"]));
    const both = await Promise.all(
      [1, 2].map(() => db.transaction((_tx, executor) => executor.execute({ sql: "select 1 as ok", parameters: [] }))),
    );
    expect(both.map(({ rows }) => rows)).toEqual([[{ ok: 1 }], [{ ok: 1 }]]);
  });

  test("refuses the client of a transaction, and what is no PrismaClient", async () => {
    const refused: unknown[] = [undefined, null, {}, "postgres://localhost"];
    const tx = prismaDatabase(prisma).transaction(async (inner) => inner);
    for (const value of [...refused, await tx])
      expect(
        QueueError.is(
          thrownBy(() => prismaDatabase(value as TestClient)),
          "INVALID_OPTION",
        ),
      ).toBe(true);
  });
});

function thrownBy(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new Error("It did not throw.");
}
