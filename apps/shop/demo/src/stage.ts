import type { Shop } from "./open-shop.js";
import type { Narrator } from "./tell/narrator.js";
import type { Paint } from "./tell/paint.js";

/** What a run of the demo plays on. */
export interface Stage {
  readonly shop: Shop;
  readonly narrator: Narrator;
  readonly print: (line: string) => void;
  readonly paint: Paint;
}
