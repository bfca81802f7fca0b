/** Calls `onSignal` on SIGTERM and SIGINT until the result is called. The only place that installs handlers on the process. */
export function onStopSignal(onSignal: () => void): () => void {
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  return () => {
    process.off("SIGTERM", onSignal);
    process.off("SIGINT", onSignal);
  };
}

/** Jobs were given back because their handlers did not end: a supervisor should know. Anything set before stays. */
export function markUnclean(): void {
  process.exitCode ??= 1;
}

export function processId(): number {
  return process.pid;
}
