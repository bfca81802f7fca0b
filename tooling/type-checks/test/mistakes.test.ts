import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installed } from "../src/find-compilers.js";
import { runCompiler } from "../src/run-compiler.js";
import { definitionMistakes } from "./mistakes/definition-mistakes.js";
import { enqueueMistakes } from "./mistakes/enqueue-mistakes.js";
import { type Mistake, preamble } from "./mistakes/mistake.js";
import { workerMistakes } from "./mistakes/worker-mistakes.js";
import { type CompilerError, errorsOf, openProgram, parseErrors, type Program } from "./program.js";

const groups = { enqueue: enqueueMistakes, "job and createQueue": definitionMistakes, "createWorker and handlers": workerMistakes };
const mistakes: readonly Mistake[] = Object.values(groups).flat();
const fileOf = (mistake: Mistake) => `mistake-${mistakes.indexOf(mistake)}.ts`;
const textOf = ({ code }: Mistake) => `${preamble}${code}\nexport {};\n`;

let opened: Program;
let errors: { readonly 6: readonly CompilerError[]; readonly 7: readonly CompilerError[] };

beforeAll(async () => {
  const files = new Map([
    ...mistakes.map((mistake) => [fileOf(mistake), textOf(mistake)] as const),
    ["right.ts", `${preamble}export {};\n`],
  ]);
  opened = await openProgram(files);
  const output = await runCompiler(installed[7], ["--project", opened.folder, "--pretty", "false"]);
  errors = { 6: errorsOf(opened, files.keys()), 7: parseErrors(output) };
}, 120_000);

afterAll(async () => {
  await opened[Symbol.asyncDispose]();
});

describe.each([6, 7] as const)("TypeScript %d", (compiler) => {
  const errorsIn = (file: string) => errors[compiler].filter((error) => error.file === file);

  test("has nothing to say where there is no mistake", () => {
    expect(errorsIn("right.ts")).toEqual([]);
    expect(errors[compiler].filter(({ file }) => !file.startsWith("mistake-"))).toEqual([]);
  });

  describe.each(Object.entries(groups))("marks in %s the line of", (_group, group) => {
    test.each(group.map((mistake) => [mistake.name, mistake] as const))("%s, and says what is wrong", (_name, mistake) => {
      const line =
        textOf(mistake)
          .split("\n")
          .findIndex((text) => text.endsWith("// <- error")) + 1;
      const [first, second, ...more] = errorsIn(fileOf(mistake));
      const says = compiler === 7 ? (mistake.saysIn7 ?? mistake.says) : mistake.says;
      expect(first?.line).toBe(line);
      expect(first?.lines.map((text) => shortened(text, says))).toContain(says);
      expect(second?.lines).toEqual(mistake.alsoSays === undefined ? undefined : [mistake.alsoSays]);
      expect(second?.line ?? line).toBe(line);
      expect(more).toEqual([]);
    });
  });
});

/** `text`, cut where `says` ends with an ellipsis. */
function shortened(text: string, says: string): string {
  return says.endsWith("…") && text.startsWith(says.slice(0, -1)) ? says : text;
}
