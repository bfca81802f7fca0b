import { textWidth } from "./text-width.js";

const clearBelow = "\u001b[0J";

/** Shows a text in place of the one before, in a terminal; lines that it has no room for are left out, so that it can find back. */
export class LiveView {
  #lines = 0;

  show(text: string): void {
    const { columns, rows } = process.stdout;
    const lines = text
      .split("\n")
      .slice(0, Math.max(1, rows - 1))
      .map((line) => cut(line, columns));
    const back = this.#lines === 0 ? "" : `\u001b[${this.#lines}A\r`;
    process.stdout.write(`${back}${clearBelow}${lines.join("\n")}\n`);
    this.#lines = lines.length;
  }
}

/** Lines with colours come from tables, which fit already. */
function cut(line: string, columns: number): string {
  return line.includes("\u001b") || textWidth(line) <= columns ? line : `${line.slice(0, Math.max(0, columns - 1))}…`;
}
