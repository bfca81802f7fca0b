/** Ends this process when the one that started it is gone: it holds the other end of our standard input. */
export function endWithParent(): void {
  process.stdin.on("end", () => process.exit(1)).resume();
}
