import { afterEach, beforeEach } from "vitest";

/** Lets a test fail in whose time something was thrown that nobody caught: it would have ended the process. */
export function forbidUncaught(): void {
  const uncaught: unknown[] = [];
  const note = (error: unknown) => uncaught.push(error);
  beforeEach(() => {
    uncaught.length = 0;
    process.on("uncaughtExceptionMonitor", note);
  });
  afterEach(() => {
    process.off("uncaughtExceptionMonitor", note);
    if (uncaught.length > 0) throw new AggregateError(uncaught, "Something was thrown that nobody caught.");
  });
}
