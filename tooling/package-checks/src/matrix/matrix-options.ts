import { parseArgs } from "node:util";
import { type Environment, everyPackage } from "./environment.js";
import { environments, guards } from "./environments.js";

/** What is to be tried. */
export interface MatrixOptions {
  readonly environments: readonly Environment[];
  /** Folders of packages. */
  readonly packages: readonly string[];
  /** Write docs/compatibility.md, and the sizes into the READMEs, instead of comparing them. */
  readonly write: boolean;
  readonly list: boolean;
}

/** Names may be repeated or separated by commas; an environment is named by its beginning, so that `typescript` is all four. */
export function readMatrixOptions(args: readonly string[]): MatrixOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      environment: { type: "string", short: "e", multiple: true, default: [] },
      package: { type: "string", short: "p", multiple: true, default: [] },
      write: { type: "boolean", default: false },
      list: { type: "boolean", default: false },
    },
  });
  const wanted = (names: readonly string[]) => names.flatMap((name) => name.split(","));
  return {
    environments: select([...environments, ...guards], wanted(values.environment), (each, name) => each.id.startsWith(name)),
    packages: select(everyPackage, wanted(values.package), (each, name) => each === name),
    write: values.write,
    list: values.list,
  };
}

function select<T>(all: readonly T[], names: readonly string[], isNamed: (each: T, name: string) => boolean): readonly T[] {
  for (const name of names) {
    if (!all.some((each) => isNamed(each, name)))
      throw new Error(`There is no ${name}; npm run test:matrix -- --list shows what there is.`);
  }
  return names.length === 0 ? all : all.filter((each) => names.some((name) => isNamed(each, name)));
}
