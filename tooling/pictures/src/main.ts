import { readFile, writeFile } from "node:fs/promises";
import { drawJobLife } from "./draw-job-life.js";
import { drawRetryDelays } from "./draw-retry-delays.js";

const pictures = { "job-life.svg": drawJobLife(), "retry-delays.svg": drawRetryDelays() };
const folder = new URL("../../../docs/pictures/", import.meta.url);
const isCheck = process.argv.includes("--check");

for (const [name, picture] of Object.entries(pictures)) {
  const file = new URL(name, folder);
  const current = await readFile(file, "utf8").catch(() => undefined);
  if (current === picture) continue;
  if (isCheck) {
    console.error(`docs/pictures/${name} is not what the code draws. Run: npm run pictures`);
    process.exitCode = 1;
  } else {
    await writeFile(file, picture);
    console.log(`docs/pictures/${name}`);
  }
}
