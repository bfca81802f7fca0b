import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createQueue, job } from "@queue/core";
import { fromPrisma, prismaDatabase, type PrismaTransaction } from "@queue/prisma";
import { useTestDatabase } from "@queue/test-database";
import { type GeneratedClient, generateClient } from "./generate-client.js";
import { openClient, type TestClient } from "./generated-client.js";

const database = useTestDatabase();
const queue = createQueue({ jobs: { note: job<{ n: number }>() } });
const numbers = async (): Promise<number[]> =>
  (await queue.admin(prismaDatabase(prisma)).jobs()).items.map(({ payload }) => (payload as { n: number }).n);
let generated: GeneratedClient;
let prisma: TestClient;

beforeAll(async () => {
  generated = await generateClient();
  prisma = await openClient(generated.file, { url: database.url });
});
afterAll(async () => {
  await prisma?.$disconnect();
  await generated?.remove();
});

describe("fromPrisma", () => {
  test("takes the transaction of a client with extensions, which do not change what the queue reads", async () => {
    const extended = prisma.$extends({
      query: { $allModels: { $allOperations: ({ args, query }: { args: unknown; query: (args: unknown) => unknown }) => query(args) } },
      result: { order: { shout: { needs: { status: true }, compute: ({ status }: { status: string }) => status.toUpperCase() } } },
    });
    await extended.$transaction((tx) => queue.enqueue(fromPrisma(tx), "note", { n: 6 }));
    expect(await numbers()).toEqual([6]);
    expect(() => fromPrisma(extended as unknown as PrismaTransaction)).toThrow(refusal("would not be in your transaction"));
  });

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
    expect(() => fromPrisma(prisma as unknown as PrismaTransaction)).toThrow(
      refusal("would not be in your transaction. Give it the tx of `prisma.$transaction(async (tx) => …)`"),
    );
  });
});

function refusal(part: string): unknown {
  return expect.objectContaining({ name: "QueueError", code: "INVALID_OPTION", message: expect.stringContaining(part) });
}
