import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { startTestServer } from "@queue/test-database";
import { generateFromMigrations } from "./generate-from-migrations.js";

const outFile = fileURLToPath(new URL("../../../packages/core/src/store/database.generated.ts", import.meta.url));
const isCheck = process.argv.includes("--check");

await using server = await startTestServer();
const generated = await generateFromMigrations(server);
const committed = await readFile(outFile, "utf8").catch(() => undefined);

if (generated === committed) {
  console.log("The row types are those of the migrations.");
} else if (isCheck) {
  console.error("The row types in packages/core/src/store/database.generated.ts are not those of the migrations. Run: npm run codegen");
  process.exitCode = 1;
} else {
  await writeFile(outFile, generated);
  console.log("The row types in packages/core/src/store/database.generated.ts are written anew.");
}
