import type { Tarball } from "./pack-package.js";

const required = ["LICENSE", "README.md", "package.json", "dist/index.js", "dist/index.d.ts", "src/index.ts"];
/** Tests, and what the compiler notes for itself. */
const unwanted = /\.test(-d)?\.|(^|\/)test\/|tsbuildinfo$/;

/** What is missing in a tarball, and what should not be in it. */
export function checkContents({ files }: Tarball): readonly string[] {
  return [
    ...required.filter((path) => !files.includes(path)).map((path) => `${path} is missing`),
    ...files.filter((path) => unwanted.test(path)).map((path) => `${path} should not be published`),
    // Declarations point to their sources, so that an editor opens those.
    ...files.filter((path) => path.endsWith(".d.ts") && !files.includes(sourceOf(path))).map((path) => `${path} has no source beside it`),
  ];
}

function sourceOf(declaration: string): string {
  return declaration.replace(/^dist\//, "src/").replace(/\.d\.ts$/, ".ts");
}
