/** Milliseconds of the machine's steady clock: the same in every process, so that stamps of two processes can be compared. */
export function steadyMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
