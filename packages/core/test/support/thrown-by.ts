/** What `call` throws. */
export function thrownBy(call: () => unknown): Error {
  try {
    call();
  } catch (error) {
    return error as Error;
  }
  throw new Error("It did not throw.");
}

/** What `promise` rejects with. */
export async function rejectionOf(promise: Promise<unknown>): Promise<Error> {
  return promise.then(
    () => {
      throw new Error("It did not reject.");
    },
    (error: unknown) => error as Error,
  );
}
