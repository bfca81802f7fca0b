import { coreTest, workerTest } from "../killers.js";
import type { Mutant } from "../mutant.js";

const initial = "packages/core/src/migrations/0001-initial.ts";

/** Enqueueing, and who hears of it. */
export const enqueueMutants: readonly Mutant[] = [
  {
    name: "enqueue-outside-of-the-transaction",
    breaks: "A job is written by the transaction that needs it done, and rolled back with it.",
    file: "packages/core/src/ports/kysely-like.ts",
    find: "const db = target.withoutPlugins();",
    replace: `  const plain = ((globalThis as never)["plain"] ??= new WeakMap() as never) as WeakMap<object, KyselyShape & KyselyLike>;
  const scope = scopeOf(target);
  if (scope !== undefined && !target.isTransaction) plain.set(scope, target);
  const inside = target.withoutPlugins();
  const outside = (plain.get(scope as object) ?? target).withoutPlugins();
  const isEnqueue = ({ sql }: { sql: string }) => sql.startsWith('with "input"') || sql.startsWith('insert into "queue"."jobs" ("kind", "payload", "lane"');
  const db = { executeQuery: (query: never) => (isEnqueue(query) ? outside : inside).executeQuery(query) } as never as typeof inside;
`,
    killers: [coreTest("enqueue-transaction")],
    tests: "commit together|roll back together|savepoint",
  },
  {
    name: "enqueue-through-the-plugins",
    breaks: "The plugins of the application's Kysely change no payload.",
    file: "packages/core/src/ports/kysely-like.ts",
    find: "const db = target.withoutPlugins();",
    replace: "const db = target;",
    killers: [coreTest("enqueue-payloads")],
    tests: "plugins",
  },
  {
    name: "enqueue-without-looking-at-the-tables",
    breaks: "Tables that are missing or old do not abort the caller's transaction.",
    file: "packages/core/src/queue/enqueue.ts",
    find: "const checked = checkSchema(executor);",
    replace: "const checked = { run: (statement: never, send: (one: never) => unknown) => send(statement) } as never;",
    killers: [coreTest("schema-check")],
  },
  {
    name: "due-before-the-enqueue",
    breaks: "No job is due before the moment of its enqueue.",
    file: "packages/core/src/store/enqueue-jobs.ts",
    find: "`greatest(${clockTimestamp}, coalesce(",
    replace: "`greatest(coalesce(",
    killers: [coreTest("enqueue-settings")],
    tests: "clock of the process",
  },
  {
    name: "enqueue-rings-for-nobody",
    breaks: "An insert announces its lines, from any language that can insert.",
    file: initial,
    find: "perform pg_catalog.pg_notify(${channel}, case when line.first > pg_catalog.clock_timestamp()",
    replace: "perform pg_catalog.pg_backend_pid(); perform (select case when line.first > pg_catalog.clock_timestamp()",
    killers: [coreTest("notifications")],
  },
  {
    name: "later-jobs-announced-as-due",
    breaks: "A job that is due later wakes nobody to a claim in vain.",
    file: initial,
    find: "line.first > pg_catalog.clock_timestamp()",
    replace: "line.first is null",
    killers: [coreTest("notifications")],
  },
  {
    name: "too-many-lines-announced-to-nobody",
    breaks: "Of an insert into more lines than are named, workers hear that there is work anywhere.",
    file: initial,
    find: "perform pg_catalog.pg_notify(${channel}, '*');",
    replace: "",
    killers: [coreTest("notifications")],
  },
  {
    name: "cancel-rings-for-nobody",
    breaks: "A cancel is announced, so that the handler is aborted at once.",
    file: "packages/core/src/store/cancel-job.ts",
    find: "ring(schema, sql`'cancel ' || g.id::text`)",
    replace: "sql`(select 1)`",
    killers: [coreTest("notifications")],
    tests: "operators ring",
  },
  {
    name: "redrive-rings-for-nobody",
    breaks: "A redrive wakes the workers.",
    file: "packages/core/src/store/redrive-jobs.ts",
    find: '.innerJoin("bell", (join) => join.onTrue())',
    replace: "",
    killers: [coreTest("notifications")],
    tests: "operators ring",
  },
  {
    name: "resume-rings-for-nobody",
    breaks: "Workers claim from a lane at once when it is resumed.",
    file: "packages/core/src/store/pause-lane.ts",
    find: "ring(schema, sql`'*'`)",
    replace: "sql`(select 1)`",
    killers: [coreTest("notifications"), workerTest("lanes")],
    tests: "operators ring|resumes at once",
  },
  {
    name: "migrators-side-by-side",
    breaks: "Any number of processes may migrate at the same moment, and all succeed.",
    file: "packages/core/src/migrations/migrate.ts",
    find: "await waitForOtherMigrators(executor, schema);",
    replace: "",
    killers: [coreTest("migrate-race")],
    tests: "on an empty database all succeed",
  },
  {
    name: "old-servers-let-in",
    breaks: "A server that is too old is refused before anything is created.",
    file: "packages/core/src/migrations/migrate.ts",
    find: "await refuseOldServer(executor);",
    replace: "",
    killers: [coreTest("migrate")],
    tests: "too old",
  },
];
