/** `@queue/core/migrations`: creates and upgrades the tables. */
export { migrate, migrationSql, type MigrateResult, type SchemaOption } from "./migrations/migrate.js";
