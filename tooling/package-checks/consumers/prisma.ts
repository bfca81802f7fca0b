import { fromPrisma, prismaDatabase, type PrismaDatabase, type PrismaTransaction } from "@queue/prisma";

export async function first(prisma: PrismaDatabase<PrismaTransaction>, tx: PrismaTransaction): Promise<unknown> {
  const db = prismaDatabase(prisma);
  const { rows } = await fromPrisma(tx).execute<{ one: number }>({ sql: "select 1 as one", parameters: [] });
  return [db.adapter, rows[0]?.one.toFixed()];
}
