import type { ExecutableQuery, Executor } from "./executor.js";

/**
 * `executor`, until `loss` answers with the error of a lost connection: then its statements reject with that, and none is sent.
 * For a driver that would write it to a socket that is no more, which ends the process (postgres.js 3.4.9).
 */
export function untilLost(executor: Executor, loss: () => { readonly error: unknown } | undefined): Executor {
  return {
    ...executor,
    execute<R>(query: ExecutableQuery) {
      const lost = loss();
      return lost === undefined ? executor.execute<R>(query) : Promise.reject(lost.error);
    },
  };
}
