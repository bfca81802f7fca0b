/** A mistake in how the program was called. Ends it with 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
