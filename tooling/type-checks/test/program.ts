import ts from "typescript";
import { programFolder } from "../src/program-folder.js";

/** An error of the compiler. */
export interface CompilerError {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** Without indentation. */
  readonly lines: readonly string[];
}

/** A program of `files`, in a folder, as TypeScript 6 sees it. */
export interface Program extends AsyncDisposable {
  readonly folder: string;
  readonly program: ts.Program;
  readonly options: ts.CompilerOptions;
  pathOf(file: string): string;
}

export async function openProgram(files: ReadonlyMap<string, string>): Promise<Program> {
  const folder = await programFolder(files, "sources");
  const { config } = ts.readConfigFile(`${folder.path}/tsconfig.json`, ts.sys.readFile) as { readonly config: object };
  const { options, fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, folder.path);
  return {
    folder: folder.path,
    program: ts.createProgram(fileNames, options),
    options,
    pathOf: (file) => `${folder.path}/${file}`,
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

/** What TypeScript 6 says about the files of the program, and not about the packages that they import. */
export function errorsOf({ program, pathOf }: Program, files: Iterable<string>): CompilerError[] {
  return [...files].flatMap((file) => {
    const source = program.getSourceFile(pathOf(file));
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map((diagnostic) => ({
      file,
      line: ts.getLineAndCharacterOfPosition(diagnostic.file ?? (source as ts.SourceFile), diagnostic.start ?? 0).line + 1,
      lines: linesOf(ts.flattenDiagnosticMessageText(diagnostic.messageText, "\n")),
    }));
  });
}

/** The errors in what `tsc --pretty false` of any version prints. */
export function parseErrors(output: string): CompilerError[] {
  return output.split(/^(?=\S)/m).flatMap((text) => {
    const match = /^(?:.*\/)?([^/]+\.ts)\((\d+),\d+\): error TS\d+: ([^]*)$/.exec(text);
    if (match === null) return [];
    const [, file = "", line = "", message = ""] = match;
    return [{ file, line: Number(line), lines: linesOf(message) }];
  });
}

function linesOf(message: string): string[] {
  return message
    .trimEnd()
    .split("\n")
    .map((line) => line.trim());
}
