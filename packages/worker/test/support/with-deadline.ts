/** `promise`, or an error that says what did not happen in time. */
export async function withDeadline<T>(promise: Promise<T>, what: string | (() => string), ms = 10_000): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`Not within ${ms} ms: ${typeof what === "string" ? what : what()}`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
