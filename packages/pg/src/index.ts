export { fromPg } from "./from-pg.js";
export { pgDatabase } from "./pg-database.js";
export { pgListener, type PgListenerOptions } from "./pg-listener.js";
