import { types } from "node:util";

/** Calls what belongs to the application, also when it is asynchronous although it should not be: it never throws. */
export function callSafely(call: () => unknown, onFailed: (error: unknown) => void): void {
  try {
    const result = call();
    if (types.isPromise(result)) result.catch(onFailed);
  } catch (error) {
    onFailed(error);
  }
}
