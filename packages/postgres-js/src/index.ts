export { fromPostgresJs } from "./from-postgres-js.js";
export { postgresJsDatabase } from "./postgres-js-database.js";
export { postgresJsListener, type PostgresJsListenerOptions } from "./postgres-js-listener.js";
