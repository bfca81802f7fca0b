import type { Logger } from "@queue/worker";

export interface LogLine {
  readonly level: keyof Logger;
  readonly details: Readonly<Record<string, unknown>>;
  readonly message: string;
}

/** A logger that keeps its lines instead of printing them. */
export interface RecordedLogger extends Logger {
  readonly lines: readonly LogLine[];
  linesOf(level: keyof Logger): LogLine[];
}

export function recordLogger(): RecordedLogger {
  const lines: LogLine[] = [];
  const write = (level: keyof Logger) => (details: object, message: string) => void lines.push({ level, details: { ...details }, message });
  return {
    lines,
    linesOf: (level) => lines.filter((line) => line.level === level),
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
  };
}
