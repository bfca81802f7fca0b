import { textWidth } from "./text-width.js";

/** No column is made narrower. */
const narrowest = 6;

/**
 * How wide each column may be, so that all of them and `gap` behind each fit into `width`: the widest give first. In a terminal
 * that is narrower than all of them at their narrowest, they do not fit.
 */
export function columnWidths(rows: readonly (readonly string[])[], width: number, gap: number): number[] {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) => Math.max(1, ...rows.map((row) => textWidth(row[column] ?? ""))));
  const available = width - gap * (columns - 1);
  for (let excess = sum(widths) - available; excess > 0; excess--) {
    const widest = widths.indexOf(Math.max(...widths));
    const now = widths[widest] ?? 0;
    if (now <= narrowest) break;
    widths[widest] = now - 1;
  }
  return widths;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
