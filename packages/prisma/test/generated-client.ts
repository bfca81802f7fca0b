import { PrismaPg } from "@prisma/adapter-pg";
import type { PrismaDatabase, PrismaTransaction } from "@queue/prisma";

/** What the tests use of the client. What it really is, is known when it has been generated. */
export interface TestClient extends PrismaDatabase<PrismaTransaction> {
  $disconnect(): Promise<void>;
  $extends(extension: object): TestClient;
}

/** Options of Prisma's for transactions, and the number of connections. */
interface TestClientOptions {
  readonly url: string;
  readonly max?: number;
  readonly transactionOptions?: { readonly maxWait?: number; readonly timeout?: number };
}

/** A client of the generated module `file`. */
export async function openClient(file: string, { url, max = 4, ...options }: TestClientOptions): Promise<TestClient> {
  const { PrismaClient } = (await import(file)) as { PrismaClient: new (options: object) => TestClient };
  return new PrismaClient({ ...options, adapter: new PrismaPg({ connectionString: url, max }) });
}
