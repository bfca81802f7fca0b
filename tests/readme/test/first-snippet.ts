import { readFile } from "node:fs/promises";

const root = new URL("../../../", import.meta.url);

/** The first TypeScript block of a README: what a newcomer copies. */
export async function firstSnippet(readme: string): Promise<string> {
  const text = await readFile(new URL(readme, root), "utf8");
  const block = /^```ts\n([\s\S]*?)^```$/m.exec(text)?.[1];
  if (block === undefined) throw new Error(`${readme} has no TypeScript block.`);
  return block;
}
