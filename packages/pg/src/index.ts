export { fromPg } from "./from-pg.js";
export { pgListener, type PgListenerOptions } from "./pg-listener.js";
