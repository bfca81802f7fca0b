import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Executor } from "@queue/core/adapter";
import { prismaDatabase } from "@queue/prisma";
import { useTestDatabase } from "@queue/test-database";
import { type GeneratedClient, generateClient } from "./generate-client.js";
import { openClient, type TestClient } from "./generated-client.js";

const database = useTestDatabase({ template: "empty" });
let generated: GeneratedClient;
let prisma: TestClient;

beforeAll(async () => {
  generated = await generateClient();
  prisma = await openClient(generated.file, { url: database.url, max: 2, transactionOptions: { maxWait: 1, timeout: 1 } });
});
afterAll(async () => {
  await prisma?.$disconnect();
  await generated?.remove();
});

/** Returns when the transaction is older than the time limits that the client has. */
async function outlastLimits(executor: Executor): Promise<void> {
  const sql = "select clock_timestamp() > now() + interval '100 milliseconds' as over";
  for (let isOver = false; !isOver;) isOver = (await executor.execute<{ over: boolean }>({ sql, parameters: [] })).rows[0]?.over === true;
}

describe("prismaDatabase", () => {
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

  test("rejects with the callback's error when the connection is lost, too", async () => {
    const thrown = new Error("no stock");
    const transaction = prismaDatabase(prisma).transaction(async (_tx, executor) => {
      await executor.execute({ sql: "select pg_terminate_backend(pg_backend_pid())::text", parameters: [] }).catch(() => {});
      throw thrown;
    });
    expect(await transaction.catch((error: unknown) => error)).toBe(thrown);
  });

  test("refuses the client of a transaction, and what is no PrismaClient", async () => {
    const refused: unknown[] = [undefined, null, {}, "postgres://localhost"];
    const tx = prismaDatabase(prisma).transaction(async (inner) => inner);
    for (const value of [...refused, await tx])
      expect(() => prismaDatabase(value as TestClient)).toThrow(expect.objectContaining({ name: "QueueError", code: "INVALID_OPTION" }));
  });
});
