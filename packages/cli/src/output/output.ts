import { isatty } from "node:tty";
import pc from "picocolors";

/** Where a command writes: what was asked for to standard output, what is said about it to standard error. */
export interface Output {
  readonly isJson: boolean;
  /** A person looks: standard output is a terminal, and is not asked for JSON. */
  readonly isInteractive: boolean;
  /** Columns; without a terminal there is no limit. */
  readonly width: number;
  readonly colors: ReturnType<typeof pc.createColors>;
  /** A line for people; nothing when JSON is asked for. */
  line(text?: string): void;
  /** The one JSON text of a command; nothing when it is not asked for. */
  json(value: unknown): void;
  /** To standard error. */
  note(text: string): void;
}

export function createOutput({ json = false }: { readonly json?: boolean | undefined }): Output {
  const { stdout, stderr, env } = process;
  // `isTTY` is undefined without a terminal, which a default for CI would turn into colours.
  const isTerminal = isatty(1);
  return {
    isJson: json,
    isInteractive: isTerminal && !json,
    get width() {
      return isTerminal ? stdout.columns : Number.POSITIVE_INFINITY;
    },
    // https://no-color.org: present and not empty.
    colors: pc.createColors(isTerminal && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb"),
    line(text = "") {
      if (!json) stdout.write(`${text}\n`);
    },
    json(value) {
      if (json) stdout.write(`${JSON.stringify(value, null, 2)}\n`);
    },
    note: (text) => void stderr.write(`${text}\n`),
  };
}
