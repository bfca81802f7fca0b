import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const compiler = join(root, "node_modules/typescript-7/bin/tsc");

/** One line for each public subpath, and a use of each whose types have to be right. */
const consumer = `
import { createQueue, job, PermanentError, QueueError, type InferPayload, type Executor } from "@queue/core";
import { type Listener } from "@queue/core/adapter";
import { migrate, migrationSql } from "@queue/core/migrations";
import { createWorker, snooze, type Handler } from "@queue/worker";
import { fromPg, pgListener } from "@queue/pg";
import { Kysely, PostgresDialect } from "kysely";
import { Pool, type PoolClient } from "pg";

const db = new Kysely<{ orders: { id: string } }>({ dialect: new PostgresDialect({ pool: new Pool() }) });
const queue = createQueue({ jobs: { mail: job<{ to: string }>({ timeout: "30s", priority: 5 }), tidy: job() } });
const mail: Handler<typeof queue, "mail"> = async ({ payload }, { signal, once }) => {
  const to: string = payload.to;
  await once(to, () => signal.throwIfAborted());
  return snooze("5m");
};
export async function all(client: PoolClient, listener: Listener = pgListener({ keepAlive: "10s" })): Promise<string> {
  await migrate(db, queue);
  const executor: Executor = fromPg(client);
  const payload: InferPayload<typeof queue, "mail"> = { to: "x" };
  const { id } = await queue.enqueue(executor, "mail", payload, { key: "k", delay: undefined });
  await db.transaction().execute((trx) => queue.enqueueMany(trx, [{ kind: "tidy", payload: null }]));
  const worker = createWorker({ queue, db, listener, handlers: { mail, tidy: { transactional: true, run: async (_job, { trx }) => void (await trx.selectFrom("orders").select("id").execute()) } } });
  await worker.run();
  const error: unknown = new PermanentError("no");
  if (QueueError.is(error, "INVALID_PAYLOAD")) return error.path;
  // @ts-expect-error -- a payload of the wrong type
  await queue.enqueue(db, "mail", { to: 5 });
  return id + migrationSql(queue);
}
`;

const cells: [module: string, resolution: string, type: "module" | "commonjs"][] = [
  ["nodenext", "nodenext", "module"],
  ["nodenext", "nodenext", "commonjs"],
  ["preserve", "bundler", "module"],
];

let folder = "";
beforeAll(async () => {
  for (const name of ["core", "worker", "pg"]) {
    const built = join(root, "packages", name, "dist/index.d.ts");
    if (!existsSync(built)) throw new Error(`${built} is not there: \`npm run build\` makes it.`);
  }
  const parent = join(root, "node_modules/.cache");
  await mkdir(parent, { recursive: true });
  folder = await mkdtemp(join(parent, "consumers-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe("B117: a strict consumer of the built packages, without skipLibCheck", () => {
  test.each(cells)("module %s, moduleResolution %s, type %s: no complaint, also of our declarations", async (...cell) => {
    expect(await compile(await writeProject(cell))).toEqual([]);
  });

  async function writeProject([module, moduleResolution, type]: (typeof cells)[number]): Promise<string> {
    const project = await mkdtemp(join(folder, `${module}-${type}-`));
    const compilerOptions = {
      module,
      moduleResolution,
      target: "es2022",
      lib: ["es2023", "esnext.disposable"],
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      noPropertyAccessFromIndexSignature: true,
      noEmit: true,
      skipLibCheck: false,
      types: ["node"],
    };
    await writeFile(join(project, "package.json"), JSON.stringify({ name: "consumer", type }));
    await writeFile(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["consumer.ts"] }));
    await writeFile(join(project, "consumer.ts"), consumer);
    return project;
  }

  /** What the compiler says of the consumer and of our declarations; those of others are not ours to mend. */
  function compile(project: string): Promise<string[]> {
    return new Promise((resolve) => {
      execFile(process.execPath, [compiler, "-p", project, "--pretty", "false"], { cwd: project }, (_error, stdout, stderr) => {
        const complaints = `${stdout}${stderr}`.split(/\n(?=\S)/).filter((line) => line.trim() !== "");
        resolve(complaints.filter((line) => !/^(\.\.\/)+node_modules\/|^(\.\.\/)*@types\//.test(line) && !line.startsWith("../../../@")));
      });
    });
  }
});
