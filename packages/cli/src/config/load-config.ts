import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { createJiti } from "jiti";
import { UsageError } from "../output/usage-error.js";
import type { QueueConfig } from "./queue-config.js";

const names = ["queue.config.ts", "queue.config.mts", "queue.config.js", "queue.config.mjs"];

/**
 * The config that `path` names, or that is in the working folder under one of its usual names; none is an empty one.
 *
 * @throws UsageError when it is not there, fails, or exports something else
 */
export async function loadConfig(path: string | undefined): Promise<QueueConfig> {
  const file = path === undefined ? names.map((name) => resolve(name)).find((candidate) => existsSync(candidate)) : resolve(path);
  if (file === undefined) return {};
  if (!existsSync(file)) throw new UsageError(`There is no config ${file}.`);
  return check(file, await importConfig(file));
}

async function importConfig(file: string): Promise<unknown> {
  try {
    // On Node 20 nothing else loads TypeScript. Resolves from the config, so that it finds the application's packages.
    return await createJiti(pathToFileURL(file).href).import(file, { default: true });
  } catch (error) {
    throw new UsageError(`The config ${file} could not be loaded: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function check(file: string, config: unknown): QueueConfig {
  const expected = `The config ${file} has to export { url?, schema?, queue? } as its default`;
  if (typeof config !== "object" || config === null) throw new UsageError(`${expected}, but exports ${typeof config}.`);
  const { url, schema, queue, ...others } = config as { readonly [name: string]: unknown };
  const unknown = Object.keys(others).filter((name) => name !== "__esModule");
  if (unknown.length > 0) throw new UsageError(`${expected}, but has ${unknown.join(", ")}.`);
  if (url !== undefined && typeof url !== "string") throw new UsageError(`${expected}; its url must be a string.`);
  if (schema !== undefined && typeof schema !== "string") throw new UsageError(`${expected}; its schema must be a string.`);
  if (queue !== undefined && !isQueue(queue)) throw new UsageError(`${expected}; its queue must be made by createQueue().`);
  return { url, schema, queue };
}

function isQueue(queue: unknown): queue is NonNullable<QueueConfig["queue"]> {
  return (
    typeof queue === "object" &&
    queue !== null &&
    "schema" in queue &&
    typeof queue.schema === "string" &&
    "jobs" in queue &&
    "admin" in queue &&
    typeof queue.admin === "function"
  );
}
