/**
 * The `prepack` of every package: nothing is packed or published that has not been built, or only in part, or whose `dist` still has
 * modules of sources that are gone. Needs no build itself.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const { name, bin = {}, exports } = JSON.parse(readFileSync("package.json", "utf8"));
const targets = Object.values(exports).flatMap((target) => (typeof target === "string" ? [target] : Object.values(target)));
const modules = readdirSync("src", { recursive: true })
  .filter((path) => path.endsWith(".ts") && !/\.test(-d)?\.ts$/.test(path))
  .map((path) => join("dist", path.replace(/\.ts$/, ".js")));
const built = existsSync("dist") ? readdirSync("dist", { recursive: true }).filter((path) => path.endsWith(".js")) : [];
const leftovers = built.map((path) => join("dist", path)).filter((path) => !modules.includes(path));
const missing = [...Object.values(bin), ...targets, ...modules].filter((path) => !existsSync(path));

if (missing.length > 0) {
  const more = missing.length === 1 ? "" : `, and ${missing.length - 1} more`;
  console.error(`${name} has not been built: ${missing[0]} is missing${more}. Run npm run build at the root of the repository first.`);
  process.exitCode = 1;
} else if (leftovers.length > 0) {
  console.error(`${name} has leftovers of an older build, such as ${leftovers[0]}. Delete dist and run npm run build again.`);
  process.exitCode = 1;
}
