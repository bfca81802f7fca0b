import type { WorkspacePackage } from "../workspace-package.js";
import { Projects } from "./projects.js";
import { type TestServerProcess, useTestServer } from "./test-server-process.js";

/** What the checks of one run share. */
export class Lab implements AsyncDisposable {
  readonly projects: Projects;
  /** Whether what is measured is written down instead of being compared. */
  readonly write: boolean;
  #server: Promise<TestServerProcess> | undefined;

  constructor(packages: readonly WorkspacePackage[], write: boolean) {
    this.projects = new Projects(packages);
    this.write = write;
  }

  /** The connection string of a PostgreSQL, which is started when it is first asked for. */
  async databaseUrl(): Promise<string> {
    this.#server ??= useTestServer();
    return (await this.#server).url;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    await (await server)?.[Symbol.asyncDispose]();
  }
}
