import type { Logger } from "@queue/worker";

/** A logger that keeps what a person should read, instead of printing it. */
export interface RecordedLogger extends Logger {
  readonly warnings: readonly string[];
}

export function recordLogger(): RecordedLogger {
  const warnings: string[] = [];
  const keep = (_details: object, message: string) => void warnings.push(message);
  return { warnings, debug: () => {}, info: () => {}, warn: keep, error: keep };
}
