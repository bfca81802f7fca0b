import { PrismaPg } from "@prisma/adapter-pg";
import type { PrismaDatabase, PrismaTransaction } from "@queue/prisma";

interface Order {
  readonly id: string;
  readonly status: string;
  readonly placedAt: Date;
}
interface Orders {
  readonly order: {
    create(options: { readonly data: { readonly id: string; readonly status: string } }): Promise<Order>;
    findMany(options: { readonly orderBy: { readonly id: "asc" } }): Promise<Order[]>;
  };
}

/** What the tests use of the client's transaction. What it really is, is known when it has been generated. */
export interface TestTransaction extends PrismaTransaction, Orders {
  $transaction<T>(body: (tx: TestTransaction) => Promise<T>): Promise<T>;
}
export interface TestClient extends PrismaDatabase<TestTransaction>, Orders {
  $disconnect(): Promise<void>;
  $extends(extension: object): TestClient;
}

/** Options of Prisma's for transactions, and the number of connections. */
interface TestClientOptions {
  readonly url: string;
  readonly max?: number;
  readonly transactionOptions?: { readonly maxWait?: number; readonly timeout?: number; readonly isolationLevel?: string };
}

/** A client of the generated module `file`. */
export async function openClient(file: string, { url, max = 4, ...options }: TestClientOptions): Promise<TestClient> {
  const { PrismaClient } = (await import(file)) as { PrismaClient: new (options: object) => TestClient };
  return new PrismaClient({ ...options, adapter: new PrismaPg({ connectionString: url, max }) });
}
