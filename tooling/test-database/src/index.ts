export { createDatabase, type Database, type DatabaseOptions, dropDatabase, type ServerAddress } from "./database.js";
export { type EmbeddedServer, type EmbeddedServerOptions, startEmbeddedServer } from "./embedded-server.js";
export { startTestServer } from "./start-test-server.js";
export { createTemplate } from "./template.js";
export type { TestServer } from "./test-server.js";
export type { TestServerContext } from "./test-server-context.js";
export { type TestDatabase, type TestDatabaseOptions, useTestDatabase } from "./use-test-database.js";
