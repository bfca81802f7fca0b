/** The tables as our own statements write them: generated from a migrated database. */
export type { DB as StoreDatabase } from "./database.generated.js";
