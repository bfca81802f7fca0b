import { expectTypeOf, test } from "vitest";
import { createQueue, job } from "@queue/core";
import type { Executor } from "@queue/core/adapter";
import { migrate } from "@queue/core/migrations";
import { fromPrisma, prismaDatabase } from "@queue/prisma";
import { createWorker } from "@queue/worker";

/** The members of a generated client that matter, as Prisma 7 writes them; `generated-types.test.ts` has a real one. */
interface PrismaClient {
  $connect(): Promise<void>;
  $disconnect(): Promise<void>;
  $queryRawUnsafe<T = unknown>(query: string, ...values: unknown[]): Promise<T>;
  $transaction<P extends Promise<unknown>[]>(arg: [...P], options?: { maxWait?: number; timeout?: number }): Promise<unknown>;
  $transaction<R>(fn: (prisma: TransactionClient) => Promise<R>, options?: { maxWait?: number; timeout?: number }): Promise<R>;
  readonly order: { create(): Promise<void> };
}
type TransactionClient = Omit<PrismaClient, "$connect" | "$disconnect">;
declare const prisma: PrismaClient;
declare const tx: TransactionClient;
const queue = createQueue({ jobs: { note: job<{ n: number }>() } });

test("fromPrisma takes the client of a transaction, and no PrismaClient", () => {
  expectTypeOf(fromPrisma(tx)).toEqualTypeOf<Executor>();
  // @ts-expect-error a PrismaClient has no transaction that the job could be in
  fromPrisma(prisma);
  // @ts-expect-error a transaction begins none of its own
  prismaDatabase(tx);
});

test("transactional handlers get the client's own type of a transaction", () => {
  createWorker({
    queue,
    db: prismaDatabase(prisma),
    handlers: { note: { transactional: true, run: async (_job, { trx }) => void expectTypeOf(trx).toEqualTypeOf<TransactionClient>() } },
  });
  expectTypeOf(migrate(prismaDatabase(prisma), queue)).resolves.toHaveProperty("applied");
  expectTypeOf(queue.admin(prismaDatabase(prisma)).cancel).toBeFunction();
});
