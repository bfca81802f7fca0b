/** Calls `callback` when everything of this turn of the event loop has run: what ends in one turn is handled together. */
export function soon(callback: () => void): void {
  setImmediate(callback);
}
