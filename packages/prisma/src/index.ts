export { fromPrisma, type PrismaTransaction } from "./from-prisma.js";
export { prismaDatabase, type PrismaLike } from "./prisma-database.js";
