/**
 * What was thrown while `run` ran and nobody caught, as rejection or as exception: without a listener each of them ends the
 * process. The listeners of the test runner, which would fail the whole run, are put aside for that time.
 */
export async function unhandledDuring(run: () => Promise<void>): Promise<unknown[]> {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => void unhandled.push(reason);
  const names = ["unhandledRejection", "uncaughtException"] as const;
  const others = names.map((name) => [name, process.listeners(name as "uncaughtException")] as const);
  for (const name of names) {
    process.removeAllListeners(name);
    process.on(name, note);
  }
  try {
    await run();
    // Rejections without a handler are told when the microtasks of their turn are done.
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    for (const [name, listeners] of others) {
      process.off(name, note);
      for (const listener of listeners) process.on(name, listener);
    }
  }
  return unhandled;
}
