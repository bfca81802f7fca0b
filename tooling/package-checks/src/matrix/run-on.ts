import { randomBytes } from "node:crypto";
import { runProgram } from "../run-program.js";
import { commandOf, type Runtime } from "./runtimes.js";

/** A program of the matrix on a runtime. */
export interface RunOptions {
  readonly runtime: Runtime;
  /** The file, in the folder. */
  readonly file: string;
  readonly folder: string;
  readonly databaseUrl: string;
  /** After the name of a schema that is the run's own. */
  readonly args?: readonly string[] | undefined;
}

const limitMs = 90_000;

/** Some errors print all of their objects. */
const readable = 3_000;

/** Runs a program that is to write `worked` and nothing else, and to end by itself. @returns what went wrong */
export async function runOn({ runtime, file, folder, databaseUrl, args = [] }: RunOptions): Promise<readonly string[]> {
  const [program, before] = await commandOf(runtime, file);
  const schema = `matrix_${randomBytes(6).toString("hex")}`;
  const environment = { DATABASE_URL: databaseUrl };
  const { status, output } = await runProgram(program, [...before, schema, ...args], folder, { environment, limitMs });
  return status === 0 && output.trim() === "worked"
    ? []
    : [`${file} on ${runtime.label} ended with ${status}:\n${output.trim().slice(0, readable)}`];
}
