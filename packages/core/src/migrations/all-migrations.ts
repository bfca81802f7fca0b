import { initial } from "./0001-initial.js";
import type { SchemaMigration } from "./schema-migration.js";

/** In the order of application. */
export const schemaMigrations: readonly SchemaMigration[] = [initial];
