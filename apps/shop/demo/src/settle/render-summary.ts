import type { Paint } from "../tell/paint.js";
import type { Check } from "./check-outcome.js";
import type { Outcome } from "./read-outcome.js";

export interface Summary {
  readonly orders: number;
  readonly refused: number;
  readonly outcome: Outcome;
  readonly checks: readonly Check[];
}

/** The table at the end, and what was checked. */
export function renderSummary({ orders, refused, outcome, checks }: Summary, paint: Paint): string {
  const rows: readonly (readonly [string, string, string])[] = [
    ["orders", String(orders), "each in one transaction with its jobs"],
    ["refused for stock", String(refused), "they left neither an order nor a job"],
    ["jobs done", String(outcome.done), `of ${outcome.jobs}`],
    ["retries", String(outcome.retries), "after failed attempts, with full jitter"],
    ["dead", String(outcome.dead), "kept until somebody redrives them"],
    ["slowest pick-up", `${Math.round(outcome.slowestPickUpMs)} ms`, "from due to start"],
    ["mails sent", String(outcome.mails), `for ${outcome.receiptsDone} receipts done`],
  ];
  const width = Math.max(...rows.map(([, value]) => value.length));
  return [
    ...rows.map(([name, value, meaning]) => `  ${name.padEnd(18)}${paint("bold", value.padStart(width))}  ${paint("dim", meaning)}`),
    "",
    ...checks.map(({ promise, isKept, found }) =>
      isKept ? `  ${paint("green", "kept")}    ${promise}` : `  ${paint("red", "broken")}  ${promise}: ${found}`,
    ),
  ].join("\n");
}
