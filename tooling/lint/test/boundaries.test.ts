import { beforeAll, describe, expect, test } from "vitest";
import { type Finding, lintSamples } from "./lint-samples.js";

/** A path, the one line in it, and what the linter must answer: the reason. */
type Refusal = readonly [file: string, line: string, reason: RegExp];

const restrictedImports: readonly Refusal[] = [
  ["packages/core/src/queue/imports-worker.ts", `import "@queue/worker";`, /core is at the bottom/],
  ["packages/core/src/store/imports-pg.ts", `import "@queue/pg";`, /core is at the bottom/],
  ["packages/core/src/errors/imports-itself.ts", `import "@queue/core";`, /core is at the bottom/],
  ["packages/core/src/adapter.ts", `import "@queue/pglite";`, /core is at the bottom/],
  ["packages/core/src/job/imports-kysely.ts", `import type { Kysely } from "kysely";`, /pure: decisions without I\/O and without Kysely/],
  ["packages/core/src/schedule/imports-sql.ts", `import { sql } from "kysely";`, /pure: decisions without I\/O and without Kysely/],
  ["packages/core/src/schedule/imports-files.ts", `import "node:fs/promises";`, /pure: decisions without I\/O and without Kysely/],
  ["packages/core/src/job/imports-store.ts", `import "../store/claim-jobs.js";`, /pure: they decide/],
  ["packages/core/src/store/imports-queue.ts", `import "../queue/queue.js";`, /below the façade/],
  ["packages/core/src/ports/imports-admin.ts", `import "../admin/admin.js";`, /below the façade/],
  [
    "packages/core/src/queue/imports-sql.ts",
    `import { sql } from "kysely";`,
    /SQL is written in core\/src\/store and core\/src\/migrations only/,
  ],
  ["packages/core/src/ports/imports-sql.ts", `import { sql as text } from "kysely";`, /SQL is written in core\/src\/store/],
  ["packages/worker/src/fetch/imports-sql.ts", `import { sql } from "kysely";`, /SQL is written in core\/src\/store/],
  ["packages/pg/src/imports-sql.ts", `import { sql } from "kysely";`, /SQL is written in core\/src\/store/],
  ["packages/core/src/queue/imports-index.ts", `import "../index.js";`, /own index\.ts is for its users/],
  ["packages/worker/src/imports-index.ts", `import "./index.js";`, /own index\.ts is for its users/],
  ["packages/pglite/src/deep/imports-index.ts", `import "../index.js";`, /own index\.ts is for its users/],
  ["packages/pg/src/imports-core.ts", `import "@queue/core";`, /An adapter knows only @queue\/core\/adapter/],
  ["packages/pg/src/imports-internal.ts", `import "@queue/core/internal";`, /An adapter knows only @queue\/core\/adapter/],
  ["packages/pglite/src/imports-pg.ts", `import "@queue/pg";`, /An adapter knows only @queue\/core\/adapter/],
  ["packages/pglite/src/imports-worker.ts", `import "@queue/worker";`, /An adapter knows only @queue\/core\/adapter/],
  [
    "packages/worker/src/imports-pg.ts",
    `import "@queue/pg";`,
    /The worker imports only @queue\/core, @queue\/core\/internal and @queue\/core\/adapter/,
  ],
  ["packages/worker/src/time/imports-pglite.ts", `import "@queue/pglite";`, /The worker imports only/],
  ["packages/worker/src/imports-migrations.ts", `import "@queue/core/migrations";`, /The worker imports only/],
  ["packages/worker/src/imports-itself.ts", `import "@queue/worker";`, /The worker imports only/],
  ["packages/worker/src/reaches-over.ts", `import "../../core/src/queue/queue.js";`, /by its public entries only/],
  ["packages/core/src/queue/imports-test-database.ts", `import "@queue/test-database";`, /neither an app nor what is there for tests/],
  ["packages/worker/src/imports-vitest.ts", `import { test } from "vitest";`, /neither an app nor what is there for tests/],
  ["packages/pg/src/imports-conformance.ts", `import "@queue/conformance";`, /neither an app nor what is there for tests/],
  ["packages/pglite/src/imports-app.ts", `import "@shop/jobs";`, /neither an app nor what is there for tests/],
  ["packages/worker/src/imports-app.ts", `import "../../../apps/shop/jobs/index.js";`, /neither an app nor what is there for tests/],
  ["packages/new-one/src/imports-test-database.ts", `import "@queue/test-database";`, /neither an app nor what is there for tests/],
  ["packages/core/src/queue/imports-timers.ts", `import "node:timers/promises";`, /Time passes in packages\/worker\/src\/time only/],
  ["packages/worker/src/run/imports-timers.ts", `import "timers/promises";`, /Time passes in packages\/worker\/src\/time only/],
  ["apps/shop/api/src/imports-internal.ts", `import "@queue/core/internal";`, /internal carries no promise/],
  ["apps/shop/worker/src/reaches-over.ts", `import "../../../../packages/core/src/job/job.js";`, /by its public entries only/],
  ["tooling/test-database/src/imports-core.ts", `import "@queue/core";`, /imports nothing of ours/],
];

const restrictedCalls: readonly Refusal[] = [
  ["packages/core/src/queue/waits.ts", `setTimeout(() => {}, 10);`, /Time passes in packages\/worker\/src\/time only/],
  ["packages/worker/src/run/repeats.ts", `setInterval(() => {}, 10);`, /Time passes in packages\/worker\/src\/time only/],
  ["packages/worker/src/settle/yields.ts", `globalThis.setImmediate(() => {});`, /Time passes in packages\/worker\/src\/time only/],
  ["packages/core/src/store/reads-clock.ts", `export const now = Date.now();`, /The database's clock decides/],
  ["packages/worker/src/lease/reads-clock.ts", `export const now = performance.now();`, /The database's clock decides/],
  ["packages/worker/src/lifecycle/exits.ts", `process.exit(1);`, /Only an app may end its process/],
  ["packages/worker/src/time/exits.ts", `process.exit(1);`, /Only an app may end its process/],
  ["packages/pg/src/exits.ts", `process.exit(1);`, /Only an app may end its process/],
  ["tooling/codegen/src/exits.ts", `process.exit(1);`, /Only an app may end its process/],
];

const houseStyle: readonly (readonly [rule: string, file: string, text: string])[] = [
  ["typescript/no-floating-promises", "packages/core/src/queue/floats.ts", `async function work(): Promise<void> {}\nwork();`],
  ["typescript/no-explicit-any", "packages/core/src/queue/holes.ts", `export const hole = (value: any): unknown => value;`],
  ["typescript/no-non-null-assertion", "packages/core/src/queue/hopes.ts", `export const hope = (value?: string): string => value!;`],
  ["import/no-default-export", "packages/core/src/queue/nameless.ts", `const value = 1;\nexport default value;`],
  ["typescript/no-namespace", "packages/core/src/queue/spaces.ts", `export namespace Space {\n  export const one = 1;\n}`],
  ["unicorn/filename-case", "packages/core/src/queue/camelCase.ts", `export const one = 1;`],
  [
    "vitest/no-disabled-tests",
    "packages/core/test/skips.test.ts",
    `import { expect, test } from "vitest";\ntest.skip("x", () => expect(1).toBe(1));`,
  ],
  ["vitest/expect-expect", "packages/core/test/proves-nothing.test.ts", `import { test } from "vitest";\ntest("x", () => {});`],
  [
    "vitest/no-focused-tests",
    "packages/core/test/focuses.test.ts",
    `import { expect, test } from "vitest";\ntest.only("x", () => expect(1).toBe(1));`,
  ],
  [
    "typescript/switch-exhaustiveness-check",
    "packages/core/src/queue/forgets.ts",
    `export function forget(value: "one" | "two"): number {\n  switch (value) {\n    case "one":\n      return 1;\n  }\n  return 0;\n}`,
  ],
];

const cycle: readonly (readonly [file: string, text: string])[] = [
  ["packages/core/src/queue/first.ts", `import { second } from "./second.js";\nexport const first = (): unknown => second;`],
  ["packages/core/src/queue/second.ts", `import { first } from "./first.js";\nexport const second = (): unknown => first;`],
  [
    "packages/core/src/queue/first-type.ts",
    `import type { Second } from "./second-type.js";\nexport interface First {\n  readonly second?: Second;\n}`,
  ],
  [
    "packages/core/src/queue/second-type.ts",
    `import type { First } from "./first-type.js";\nexport interface Second {\n  readonly first?: First;\n}`,
  ],
];

const allowed: readonly (readonly [file: string, text: string])[] = [
  [
    "packages/core/src/store/claims.ts",
    `import { type Kysely, sql } from "kysely";\nexport const query = (db: Kysely<unknown>): unknown => sql\`select 1\`.compile(db);`,
  ],
  ["packages/core/src/queue/compiles.ts", `import { CompiledQuery } from "kysely";\nexport const query = CompiledQuery.raw("select 1");`],
  ["packages/core/src/job/decides.ts", `import { createHash } from "node:crypto";\nexport const hash = createHash("sha256");`],
  [
    "packages/core/src/queue/decides.test.ts",
    `import { useTestDatabase } from "@queue/test-database";\nexport const database = useTestDatabase();\nsetTimeout(() => {}, Date.now());`,
  ],
  [
    "packages/core/test/claims.test.ts",
    `import { createQueue } from "@queue/core";\nimport { sql } from "kysely";\nexport const both = [createQueue, sql];`,
  ],
  [
    "packages/worker/src/run/runs.ts",
    `import { job } from "@queue/core";\nimport { claim } from "@queue/core/internal";\nimport { port } from "@queue/core/adapter";\nexport const all = [job, claim, port];`,
  ],
  [
    "packages/worker/src/time/system-clock.ts",
    `export const now = (): number => performance.now() + Date.now();\nexport const wait = (ms: number): unknown => setTimeout(() => {}, ms);`,
  ],
  [
    "packages/pg/src/pg-listener.ts",
    `import { port } from "@queue/core/adapter";\nexport const again = (): unknown => setTimeout(() => port, 10);`,
  ],
  [
    "apps/shop/api/src/main.ts",
    `import { createQueue } from "@queue/core";\nimport { migrate } from "@queue/core/migrations";\nif (createQueue === migrate) process.exit(1);`,
  ],
  ["vitest.config.ts", `const config = {};\nexport default config;`],
];

const samples = new Map<string, string>([
  ...[...restrictedImports, ...restrictedCalls].map(([file, line]) => [file, `${line}\n`] as const),
  ...houseStyle.map(([, file, text]) => [file, `${text}\n`] as const),
  ...[...cycle, ...allowed].map(([file, text]) => [file, `${text}\n`] as const),
]);

let findings: readonly Finding[] = [];
beforeAll(async () => {
  findings = await lintSamples(samples);
});

function findingsIn(file: string): readonly Finding[] {
  return findings.filter((finding) => finding.file === file);
}

describe("an import over a boundary is refused with the reason:", () => {
  test.each(restrictedImports)("%s: %s", (file, _line, reason) => {
    expect(findingsIn(file)).toContainEqual({ file, rule: "no-restricted-imports", message: expect.stringMatching(reason) });
  });
});

describe("a call that belongs elsewhere is refused with the reason:", () => {
  test.each(restrictedCalls)("%s: %s", (file, _line, reason) => {
    expect(findingsIn(file)).toContainEqual({
      file,
      rule: expect.stringMatching(/^no-restricted-(globals|properties)$/),
      message: expect.stringMatching(reason),
    });
  });
});

describe("the house style is refused to be left:", () => {
  test.each(houseStyle)("%s in %s", (rule, file) => {
    expect(findingsIn(file).map((finding) => finding.rule)).toContain(rule);
  });

  test.each(cycle)("an import cycle, of values or of types, through %s", (file) => {
    expect(findingsIn(file).map((finding) => finding.rule)).toContain("import/no-cycle");
  });
});

describe("nothing is said against", () => {
  test.each(allowed)("%s", (file) => {
    expect(findingsIn(file)).toEqual([]);
  });
});
