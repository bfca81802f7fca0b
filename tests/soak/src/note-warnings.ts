/** Everything that Node warns of, such as MaxListenersExceededWarning. That the samples count objects is experimental is known. */
export function noteWarnings(note: (warning: string) => void): void {
  process.on("warning", ({ name, message }) => {
    if (name !== "ExperimentalWarning") note(`${name}: ${message}`);
  });
}
