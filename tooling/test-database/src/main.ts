import { startEmbeddedServer } from "./embedded-server.js";

/** A server to keep while tests come and go: the databases of those that fail stay in it. */
const { url } = await startEmbeddedServer();
console.log(`export TEST_DATABASE_URL=${url}\n\nThe server runs until this process ends (ctrl-C).`);
