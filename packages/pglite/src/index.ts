export { fromPglite, type PgliteQueryable } from "./from-pglite.js";
export { openPglite, type OpenPglite, type OpenPgliteOptions } from "./open-pglite.js";
export { PgliteDialect, type PgliteDialectConfig } from "./pglite-dialect.js";
export { pgliteListener, type PgliteNotifier } from "./pglite-listener.js";
