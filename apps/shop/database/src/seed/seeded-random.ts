import { createHash } from "node:crypto";

/** A number from 0 (included) to 1 (excluded) that is always the same for the same text. */
export function fractionOf(text: string): number {
  return createHash("sha256").update(text).digest().readUInt32BE(0) / 2 ** 32;
}

/** A `Math.random` that gives the same row of numbers for the same seed. */
export function seededRandom(seed: string): () => number {
  let draws = 0;
  return () => fractionOf(`${seed} ${draws++}`);
}
