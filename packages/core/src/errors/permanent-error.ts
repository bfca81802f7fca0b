const mark = Symbol.for("@queue/core/PermanentError");

/**
 * Throw it from a handler, or from the code under it, when trying again cannot help: the job goes straight to the dead
 * letters. Recognised across copies of the package, and by its name where a copy lost everything else (structured clone).
 *
 * @example throw new PermanentError("no such customer", { cause: error });
 */
export class PermanentError extends Error {
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super(message, options !== undefined && "cause" in options ? { cause: options.cause } : undefined);
    this.name = "PermanentError";
    Object.defineProperty(this, mark, { value: true });
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    return isPermanentError(value);
  }
}

/** Whether `value` is a {@link PermanentError} of this or of any other copy. */
export function isPermanentError(value: unknown): value is PermanentError {
  if (typeof value !== "object" || value === null) return false;
  try {
    // The mark's value, too: a proxy may have every property.
    const { name, [mark]: marked } = value as { readonly name?: unknown; readonly [mark]?: unknown };
    return marked === true || name === "PermanentError";
  } catch {
    return false; // a proxy or a getter that throws is somebody else's object
  }
}
