import { parseArgs } from "node:util";

export interface SoakOptions {
  readonly minutes: number;
  /** Jobs a second, of all producers together. */
  readonly ratePerSecond: number;
  /** For so long a snapshot is held, in the middle; 0: none. */
  readonly holdMinutes: number;
  readonly seed: number;
  readonly producers: number;
  readonly workers: number;
  /** Of each worker; all else is the default. */
  readonly concurrency: number;
  readonly isJson: boolean;
}

/** @throws Error that says which option is wrong */
export function parseSoakOptions(args: readonly string[]): SoakOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: "string", default: "30" },
      rate: { type: "string", default: "1000" },
      "hold-minutes": { type: "string" },
      seed: { type: "string", default: "1" },
      producers: { type: "string", default: "2" },
      workers: { type: "string", default: "2" },
      concurrency: { type: "string", default: "25" },
      json: { type: "boolean", default: false },
    },
  });
  const minutes = positive("minutes", values.minutes);
  const holdMinutes = values["hold-minutes"] === undefined ? minutes / 3 : atLeastZero("hold-minutes", values["hold-minutes"]);
  if (holdMinutes >= minutes) throw new Error(`--hold-minutes must be less than --minutes (${minutes}), but is ${holdMinutes}.`);
  return {
    minutes,
    holdMinutes,
    ratePerSecond: positive("rate", values.rate),
    seed: atLeastZero("seed", values.seed),
    producers: positive("producers", values.producers),
    workers: positive("workers", values.workers),
    concurrency: positive("concurrency", values.concurrency),
    isJson: values.json,
  };
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0 && Number.isFinite(value))) throw new Error(`--${name} must be a number above 0, but is ${JSON.stringify(text)}.`);
  return value;
}

function atLeastZero(name: string, text: string): number {
  const value = Number(text);
  if (!(value >= 0 && Number.isFinite(value))) throw new Error(`--${name} must be a number from 0 up, but is ${JSON.stringify(text)}.`);
  return value;
}
