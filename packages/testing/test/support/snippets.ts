import { readFile } from "node:fs/promises";

/** The TypeScript blocks of a README, in order. */
export async function snippetsOf(readme: URL): Promise<string[]> {
  const text = await readFile(readme, "utf8");
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].flatMap(([, block]) => (block === undefined ? [] : [block]));
}
