import { styleText } from "node:util";

export type Tone = "bold" | "dim" | "green" | "yellow" | "red";

/** Colours text, or leaves it as it is. */
export type Paint = (tone: Tone, text: string) => string;

/** Colours for a person at a terminal, who may refuse them by NO_COLOR; nothing for files and pipes. */
export function createPaint(stream: { readonly isTTY?: boolean }, env: Readonly<Record<string, string | undefined>>): Paint {
  const isColored = stream.isTTY === true && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
  return (tone, text) => (isColored ? styleText(tone, text) : text);
}
