import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { repositoryFolder } from "../workspace-package.js";

/** A PostgreSQL for this run. */
export interface TestServerProcess extends AsyncDisposable {
  readonly url: string;
}

const program = join(repositoryFolder, "tooling", "test-database", "dist", "main.js");
const announcement = "export TEST_DATABASE_URL=";

/**
 * The server that `TEST_DATABASE_URL` names, or one that `npm run test:server` starts, and that ends with what is returned. In the first,
 * schemas `matrix_…` are left.
 */
export async function useTestServer(): Promise<TestServerProcess> {
  const external = process.env["TEST_DATABASE_URL"] ?? "";
  if (external !== "") return { url: external, [Symbol.asyncDispose]: () => Promise.resolve() };
  const child = spawn(process.execPath, [program], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith(announcement)) continue;
    const end = async () => {
      child.kill("SIGTERM");
      await ended;
    };
    return { url: line.slice(announcement.length), [Symbol.asyncDispose]: end };
  }
  throw new Error("The test server ended without saying where it is: npm run test:server shows why.");
}
