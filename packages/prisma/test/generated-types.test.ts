import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type GeneratedClient, generateClient } from "./generate-client.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** What `prisma.test-d.ts` says of a client like the generated one, said of the generated one itself. */
const code = `import { expectTypeOf } from "vitest";
import { createQueue, job } from "@queue/core";
import { fromPrisma, prismaDatabase } from "@queue/prisma";
import { createWorker } from "@queue/worker";
import type { Prisma, PrismaClient } from "./generated/prisma/client.js";

declare const prisma: PrismaClient;
declare const tx: Prisma.TransactionClient;
const queue = createQueue({ jobs: { note: job<{ n: number }>() } });

createWorker({
  queue,
  db: prismaDatabase(prisma),
  handlers: { note: { transactional: true, run: async (_job, { trx }) => void expectTypeOf(trx).toEqualTypeOf<Prisma.TransactionClient>() } },
});
const extended = prisma.$extends({ result: { order: { shout: { needs: { status: true }, compute: ({ status }) => status.toUpperCase() } } } });
createWorker({
  queue,
  db: prismaDatabase(extended),
  handlers: {
    note: {
      transactional: true,
      async run(_job, { trx }) {
        expectTypeOf((await trx.order.findFirstOrThrow()).shout).toEqualTypeOf<string>();
        await queue.enqueue(fromPrisma(trx), "note", { n: 1 });
      },
    },
  },
});
await queue.enqueue(fromPrisma(tx), "note", { n: 1 });
await prisma.$transaction(async (inner) => queue.enqueue(fromPrisma(inner), "note", { n: 1 }));
await extended.$transaction(async (inner) => queue.enqueue(fromPrisma(inner), "note", { n: 1 }));
// @ts-expect-error a PrismaClient has no transaction that the job could be in
fromPrisma(prisma);
// @ts-expect-error nor has one with extensions
fromPrisma(extended);
// @ts-expect-error a transaction begins none of its own
prismaDatabase(tx);
`;

let generated: GeneratedClient;
beforeAll(async () => {
  generated = await generateClient();
});
afterAll(() => generated?.remove());

test("a generated client types the transaction of handlers, also with extensions, and is refused as a transaction", async () => {
  const { folder } = generated;
  await writeFile(join(folder, "types.ts"), code);
  const compilerOptions = { tsBuildInfoFile: join(folder, ".tsbuildinfo") };
  await writeFile(
    join(folder, "tsconfig.json"),
    JSON.stringify({ extends: join(root, "tsconfig.tests.json"), compilerOptions, include: ["types.ts"], exclude: [] }),
  );
  const output = await promisify(execFile)(process.execPath, [join(root, "node_modules/typescript-7/bin/tsc"), "-p", folder]).then(
    () => "",
    (error: { stdout: string }) => error.stdout,
  );
  expect(output).toBe("");
});
