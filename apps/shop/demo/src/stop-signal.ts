/** A terminal and npm both pass Ctrl-C on: what comes so soon after the first is the same keystroke. */
const sameKeystrokeMs = 500;

/** Aborts at SIGINT and SIGTERM. A later SIGINT ends the process at once, as it would without us. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  let firstAtMs: number | undefined;
  const onSignal = () => {
    firstAtMs ??= performance.now();
    stop.abort();
    if (performance.now() - firstAtMs > sameKeystrokeMs) process.exit(130);
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  return stop.signal;
}
