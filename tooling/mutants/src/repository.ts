import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/** The root of the repository, without a slash at its end. */
export const repository = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "");

/** A file of the repository, by its path from the root. */
export async function readSource(file: string): Promise<string> {
  return readFile(`${repository}/${file}`, "utf8");
}
