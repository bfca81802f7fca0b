import Table from "cli-table3";
import { columnWidths } from "./column-widths.js";
import type { Output } from "./output.js";
import { visible } from "./visible.js";

const gap = 2;
const noBorders = Object.fromEntries(
  ["top", "top-mid", "top-left", "top-right", "bottom", "bottom-mid", "bottom-left", "bottom-right"]
    .concat(["left", "left-mid", "mid", "mid-mid", "right", "right-mid", "middle"])
    .map((name) => [name, ""]),
);

/** `rows` under `head`, no wider than the terminal: what is too long is cut. A null is a dash. */
export function renderTable(
  { width, colors }: Pick<Output, "width" | "colors">,
  head: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
): string {
  const cells = rows.map((row) => row.map((cell) => visible(String(cell ?? "-"))));
  const widths = columnWidths([head, ...cells], width, gap);
  const table = new Table({
    head: head.map((title) => colors.dim(title)),
    chars: noBorders,
    style: { head: [], border: [], "padding-left": 0, "padding-right": gap },
    // Behind the last column there is no gap.
    colWidths: widths.map((columnWidth) => columnWidth + gap),
  });
  table.push(...cells);
  return table
    .toString()
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n");
}
