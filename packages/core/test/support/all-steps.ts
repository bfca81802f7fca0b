import { functionsStep } from "../../src/functions/install-functions.js";
import { schemaMigrations } from "../../src/migrations/all-migrations.js";

/** What `migrate` applies to an empty schema, in its order. */
export const allSteps: readonly string[] = [...schemaMigrations, functionsStep()].map(({ name }) => name);
