import { parseArgs } from "node:util";
import { allMeasures } from "./measures/all-measures.js";
import type { Measure } from "./measures/measure.js";
import { fullSizes, quickSizes, type Sizes } from "./sizes.js";
import { sides, type Variant, variants } from "./variant.js";

export interface BenchOptions {
  readonly isQuick: boolean;
  readonly sizes: Sizes;
  readonly asJson: boolean;
  readonly withCharts: boolean;
  readonly isGrowth: boolean;
  readonly isAdapters: boolean;
  readonly measures: readonly Measure[];
  readonly variants: readonly Variant[];
  /** Growth: the series whose names are given; all of them if none is. */
  readonly series: readonly string[];
}

export const usage = `npm run bench -- [options]

  --quick              small sizes, one round, under five minutes
  --measure S1,S4      these measures only
  --side ours,pg-boss  these sides only: ${sides.join(", ")}
  --rounds 3           instead of five
  --charts             draws docs/benchmarks/*.svg
  --json               all figures as JSON, instead of tables
  --growth             what happens when work grows, instead of S1 … S10
  --series backlog     with --growth: these series only
  --adapters           what an enqueue costs through each adapter, instead of S1 … S10`;

/** @throws Error that says what is wrong with an argument */
export function parseOptions(argv: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      quick: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      charts: { type: "boolean", default: false },
      growth: { type: "boolean", default: false },
      adapters: { type: "boolean", default: false },
      measure: { type: "string" },
      side: { type: "string" },
      series: { type: "string" },
      rounds: { type: "string" },
    },
  });
  const sizes = values.quick ? quickSizes : fullSizes;
  const rounds = values.rounds === undefined ? sizes.rounds : Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error("--rounds is a whole number from 1.");
  const chosenSides = choose("--side", values.side, sides);
  const ids = choose(
    "--measure",
    values.measure?.toUpperCase(),
    allMeasures.map(({ id }) => id),
  );
  return {
    isQuick: values.quick,
    sizes: { ...sizes, rounds },
    asJson: values.json,
    withCharts: values.charts,
    isGrowth: values.growth,
    isAdapters: values.adapters,
    measures: allMeasures.filter(({ id }) => ids.includes(id)),
    variants: variants.filter(({ side }) => chosenSides.includes(side)),
    series: values.series?.split(",") ?? [],
  };
}

function choose<TName extends string>(option: string, given: string | undefined, names: readonly TName[]): readonly TName[] {
  if (given === undefined) return names;
  const wanted = given.split(",");
  const unknown = wanted.find((name) => !(names as readonly string[]).includes(name));
  if (unknown !== undefined) throw new Error(`${option} ${unknown} is unknown: it is one or more of ${names.join(",")}.`);
  return names.filter((name) => wanted.includes(name));
}
