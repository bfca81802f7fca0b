export { type DrizzleDatabase, drizzleDatabase, type DrizzleTransactionOf } from "./drizzle-database.js";
export { type DrizzleTransaction, fromDrizzle } from "./from-drizzle.js";
