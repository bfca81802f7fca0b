/** What the global setup of a test run hands to its test files, through vitest's `provide` and `inject`. */
export interface TestServerContext {
  readonly url: string;
  readonly version: number;
  /** The name of the database that holds the migrated tables. */
  readonly migratedTemplate: string;
}

declare module "vitest" {
  interface ProvidedContext {
    testServer: TestServerContext;
  }
}
