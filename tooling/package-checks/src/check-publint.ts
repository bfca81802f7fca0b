import { readFile } from "node:fs/promises";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import type { Tarball } from "./pack-package.js";
import type { WorkspacePackage } from "./workspace-package.js";

/** What publint has against a tarball, suggestions included. */
export async function checkPublint({ manifest }: WorkspacePackage, { path }: Tarball): Promise<readonly string[]> {
  const content = await readFile(path);
  const tarball = content.buffer.slice(content.byteOffset, content.byteOffset + content.byteLength);
  const { messages } = await publint({ pack: { tarball }, strict: true });
  return messages.map((message) => formatMessage(message, manifest, { color: false }) ?? message.code);
}
