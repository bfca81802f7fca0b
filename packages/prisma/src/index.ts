export { fromPrisma, type PrismaTransaction } from "./from-prisma.js";
export { type PrismaDatabase, prismaDatabase } from "./prisma-database.js";
