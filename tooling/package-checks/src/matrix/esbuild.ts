import { bringTool } from "./tool.js";
import { runProgram } from "../run-program.js";

/** For the label. */
export const esbuildVersion = "0.28.2";

/** Runs esbuild in `folder`. @returns what it says when it does not work */
export async function runEsbuild(args: readonly string[], folder: string): Promise<readonly string[]> {
  const windows = process.platform === "win32";
  const name = `@esbuild/${process.platform}-${process.arch}`;
  const esbuild = await bringTool({ name, version: esbuildVersion, file: windows ? "esbuild.exe" : "bin/esbuild" });
  const { status, output } = await runProgram(esbuild, [...args, "--log-level=warning"], folder);
  return status === 0 && output === "" ? [] : [`esbuild ${args.join(" ")} ended with ${status}:\n${output}`];
}
