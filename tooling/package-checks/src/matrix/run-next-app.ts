import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runProgram } from "../run-program.js";
import type { Lab } from "./lab.js";
import { bringTool } from "./tool.js";
import { newestNode } from "./runtimes.js";

const react = "19.2.0";

const route = `import { createQueue, job } from "@queue/core";
import { migrate } from "@queue/core/migrations";
import { fromPg, pgDatabase } from "@queue/pg";
import pg from "pg";

export const dynamic = "force-dynamic";
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const queue = createQueue({ schema: process.env.QUEUE_SCHEMA, jobs: { "order.ship": job() } });

export async function POST() {
  await migrate(pgDatabase(pool), queue);
  const client = await pool.connect();
  await client.query("begin");
  await queue.enqueue(fromPg(client), "order.ship", { orderId: "1" });
  await client.query("commit");
  client.release();
  const { items } = await queue.admin(pgDatabase(pool)).jobs({ kind: "order.ship" });
  return Response.json(items.length);
}
`;

/** The application, file by file: the smallest that Next.js takes. */
const files = {
  "app/layout.js": `export default function Layout({ children }) {\n  return <html><body>{children}</body></html>;\n}\n`,
  "app/enqueue/route.js": route,
  // The folders above are none of its own.
  "next.config.mjs": `export default { turbopack: { root: import.meta.dirname } };\n`,
};

/** Builds and starts it, and posts to the route. @returns what went wrong */
export async function runNextApp(lab: Lab, next: string): Promise<readonly string[]> {
  const folder = await lab.projects.some(["core", "pg"], { next, react, "react-dom": react }, "next");
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(folder, path, ".."), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  const node = await bringTool(newestNode.tool);
  const environment = {
    DATABASE_URL: await lab.databaseUrl(),
    QUEUE_SCHEMA: `matrix_${randomBytes(6).toString("hex")}`,
    NEXT_TELEMETRY_DISABLED: "1",
  };
  const program = join(folder, "node_modules", "next", "dist", "bin", "next");
  const { status, output } = await runProgram(node, [program, "build"], folder, { environment, limitMs: 240_000 });
  if (status !== 0) return [`next build ended with ${status}:\n${output}`];
  return post(node, [program, "start", "--hostname", "127.0.0.1", "--port", "0"], { folder, environment });
}

interface Started {
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** Starts the server, posts once, and ends it. */
async function post(node: string, args: readonly string[], { folder, environment }: Started): Promise<readonly string[]> {
  const server = spawn(node, args, {
    cwd: folder,
    env: { ...process.env, ...environment, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(server, "exit");
  let output = "";
  server.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
  try {
    for await (const text of server.stdout.setEncoding("utf8") as AsyncIterable<string>) {
      output += text;
      const address = /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0];
      if (address === undefined || !output.includes("Ready")) continue;
      const response = await fetch(`${address}/enqueue`, { method: "POST" });
      const body = await response.text();
      return body === "1" ? [] : [`The route answered ${response.status}: ${body}\n${output}`];
    }
    return [`next start ended:\n${output}`];
  } finally {
    server.kill("SIGTERM");
    await ended;
  }
}
