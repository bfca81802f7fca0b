import { bringTool, type Tool } from "./tool.js";

/** A program that runs JavaScript. */
export interface Runtime {
  readonly id: string;
  readonly label: string;
  readonly tool: Tool;
  /** What comes before the file. */
  readonly args: readonly string[];
}

const windows = process.platform === "win32";

/** For what needs one Node, whichever. */
export const newestNode: Runtime = node("24.22.3");

/** The oldest Node that the packages name in `engines`, and the newest of the others. */
export const nodes: readonly Runtime[] = [node("20.19.0"), node("22.23.5"), newestNode];

export const bun: Runtime = { id: "bun", label: "Bun 1.4.5", tool: bunOf("1.4.5"), args: ["run"] };

export const deno: Runtime = {
  id: "deno",
  label: "Deno 2.9.6",
  tool: denoOf("2.9.6"),
  args: ["run", "--allow-all", "--quiet", "--node-modules-dir=manual"],
};

/** The command line that runs `file` on `runtime`. */
export async function commandOf({ tool, args }: Runtime, file: string): Promise<readonly [program: string, args: readonly string[]]> {
  return [await bringTool(tool), [...args, file]];
}

/** The packages of the platforms have the program in them; those without a platform fetch it by a script. */
function node(version: string): Runtime {
  const major = version.slice(0, version.indexOf("."));
  const name = `node-${windows ? "win" : process.platform}-${process.arch}`;
  return { id: `node-${major}`, label: `Node ${version}`, tool: { name, version, file: windows ? "bin/node.exe" : "bin/node" }, args: [] };
}

function bunOf(version: string): Tool {
  const architecture = process.arch === "arm64" ? "aarch64" : process.arch;
  return {
    name: `@oven/bun-${windows ? "windows" : process.platform}-${architecture}`,
    version,
    file: windows ? "bin/bun.exe" : "bin/bun",
  };
}

function denoOf(version: string): Tool {
  const library = process.platform === "linux" ? "-glibc" : "";
  return { name: `@deno/${process.platform}-${process.arch}${library}`, version, file: windows ? "deno.exe" : "deno" };
}
