import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createQueue, job, QueueError } from "@queue/core";
import { sqlStateOf } from "@queue/core/adapter";
import { fromPrisma, prismaDatabase } from "@queue/prisma";
import { useTestDatabase } from "@queue/test-database";
import { type GeneratedClient, generateClient, table } from "./generate-client.js";
import { openClient, type TestClient, type TestTransaction } from "./generated-client.js";

const database = useTestDatabase();
const queue = createQueue({ jobs: { note: job<{ n: number }>() } });
const numbers = async (): Promise<number[]> =>
  (await queue.admin(prismaDatabase(prisma)).jobs()).items.map(({ payload }) => (payload as { n: number }).n);
/** What libraries are known to take for placeholders, escapes or JSON of their own. */
const awkward = `$1 $2 ? ?? \\? :name %s ' " \\ {"a":[1,2]} {1,2} [1]`;
let generated: GeneratedClient;
let prisma: TestClient;

beforeAll(async () => {
  generated = await generateClient();
  prisma = await openClient(generated.file, { url: database.url });
  await database.pool.query(table);
});
afterAll(async () => {
  await prisma?.$disconnect();
  await generated?.remove();
});

describe("fromPrisma", () => {
  test("writes a job in the transaction, which takes it along", async () => {
    await prisma.$transaction(async (tx) => {
      await tx.order.create({ data: { id: "a", status: "new" } });
      const result = await queue.enqueue(fromPrisma(tx), "note", { n: 1 });
      expect(result).toEqual({ id: expect.stringMatching(/^\d+$/), inserted: true });
    });
    const failing = prisma.$transaction(async (tx) => {
      await queue.enqueue(fromPrisma(tx), "note", { n: 2 });
      await tx.order.create({ data: { id: "a", status: "new" } });
    });
    await expect(failing).rejects.toMatchObject({ code: "P2002" });
    expect(await numbers()).toEqual([1]);
  });

  test("writes a job in a nested transaction, which goes when that is rolled back", async () => {
    await prisma.$transaction(async (tx) => {
      await tx.$transaction((inner) => queue.enqueue(fromPrisma(inner), "note", { n: 3 }));
      const failing = tx.$transaction(async (inner) => {
        await queue.enqueue(fromPrisma(inner), "note", { n: 4 });
        throw new Error("no stock");
      });
      await expect(failing).rejects.toThrow("no stock");
      await queue.enqueue(fromPrisma(tx), "note", { n: 5 });
    });
    expect(await numbers()).toEqual([5, 3, 1]);
  });

  test("takes the transaction of a client with extensions, which do not change what the queue reads", async () => {
    const extended = prisma.$extends({
      query: { $allModels: { $allOperations: ({ args, query }: { args: unknown; query: (args: unknown) => unknown }) => query(args) } },
      result: { order: { shout: { needs: { status: true }, compute: ({ status }: { status: string }) => status.toUpperCase() } } },
    });
    await extended.$transaction((tx) => queue.enqueue(fromPrisma(tx), "note", { n: 6 }));
    expect(await numbers()).toEqual([6, 5, 3, 1]);
    const refused = thrownBy(() => fromPrisma(extended as unknown as TestTransaction));
    expect(QueueError.is(refused, "INVALID_OPTION")).toBe(true);
  });

  test("passes texts through as they are", async () => {
    await prisma.$transaction(async (tx) => {
      const { rows } = await fromPrisma(tx).execute({
        sql: `select $1::text as "camelCase", '? ?? \\?'::text as literal, $2::text::jsonb::text as json, $3::text::int[]::text as list, $1::text as again`,
        parameters: Object.freeze([awkward, JSON.stringify([awkward]), "{1,2}"]),
      });
      expect(rows).toEqual([{ camelCase: awkward, literal: "? ?? \\?", json: JSON.stringify([awkward]), list: "{1,2}", again: awkward }]);
    });
  });

  test.each(["22012", "23505", "40001", "40P01", "42P01", "3F000", "P0001", "QU000"])(
    "leaves SQLSTATE %s where the queue finds it",
    async (state) => {
      const failing = prisma.$transaction((tx) =>
        fromPrisma(tx).execute({ sql: `do $$ begin raise 'no' using errcode = '${state}'; end $$`, parameters: [] }),
      );
      expect(sqlStateOf(await failing.then(undefined, (error: unknown) => error))).toBe(state);
    },
  );

  test("names one scope for all transactions of a client, whose tables need no second look", async () => {
    const scopes = await Promise.all([1, 2].map(() => prisma.$transaction(async (tx) => fromPrisma(tx).scope)));
    expect(scopes[0]).toBeTypeOf("object");
    expect(new Set([...scopes, prismaDatabase(prisma).scope]).size).toBe(1);
  });

  test("writes nothing when the transaction has ended", async () => {
    const late = await prisma.$transaction(async (tx) => fromPrisma(tx));
    await expect(queue.enqueue(late, "note", { n: 7 })).rejects.toMatchObject({ code: "P2028" });
    expect(await numbers()).not.toContain(7);
  });

  test("refuses a PrismaClient, because the job would be committed on its own", () => {
    const error = thrownBy(() => fromPrisma(prisma as unknown as TestTransaction));
    expect(QueueError.is(error, "INVALID_OPTION")).toBe(true);
    expect(String(error)).toContain("would not be in your transaction");
    expect(String(error)).toContain("prisma.$transaction(async (tx) => …)");
  });

  test.each([
    ["nothing", undefined, "undefined"],
    ["null", null, "null"],
    ["a connection string", "postgres://localhost", '"postgres://localhost"'],
    ["a promise", Promise.resolve(), "an await is missing"],
    ["any object", {}, "an object"],
  ])("refuses %s", (_name, value, part) => {
    const error = thrownBy(() => fromPrisma(value as unknown as TestTransaction));
    expect(QueueError.is(error, "INVALID_OPTION")).toBe(true);
    expect(String(error)).toContain(part);
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
