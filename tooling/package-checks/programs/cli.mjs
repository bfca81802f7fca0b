import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

// As npx does: the file that the package names in "bin", on the runtime that this runs on.
const folder = fileURLToPath(new URL("./node_modules/@queue/cli/", import.meta.url));
const { bin } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
const run = (...args) => {
  const before = globalThis.Deno === undefined ? [] : ["run", "--allow-all", "--quiet", "--node-modules-dir=manual"];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...before, join(folder, bin.queue), ...args], { encoding: "utf8" });
  if (status !== 0) throw new Error(`queue ${args.join(" ")} ended with ${status}:\n${stdout}${stderr}`);
  return stdout;
};

const database = ["--url", process.env.DATABASE_URL, "--schema", process.argv[2], "--json"];
run("migrate", ...database);
run("enqueue", "order.ship", '{"orderId":"1"}', ...database);
const { items } = JSON.parse(run("jobs", ...database));
if (items.length !== 1) throw new Error(`${items.length} jobs are listed, and not 1.`);
console.log("worked");
