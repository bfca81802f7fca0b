import type { Pooler } from "./pooler.js";

/** What the global setup of a test run hands to its test files, through vitest's `provide` and `inject`. */
export interface TestServerContext {
  readonly url: string;
  readonly version: number;
  /** The name of the database that holds the migrated tables. */
  readonly migratedTemplate: string;
  /** Through this pooler the pools of the tests go, under `TEST_POOLER=transaction`. */
  readonly pooler?: Pick<Pooler, "url"> | undefined;
}

declare module "vitest" {
  interface ProvidedContext {
    testServer: TestServerContext;
  }
}
