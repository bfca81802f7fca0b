import type { Lines } from "./lines.js";
import type { ResolvedWorkerOptions } from "../worker-options.js";

/** Handlers of kinds whose own lane this worker does not serve: meant, when another worker does, and a slip otherwise. */
export function warnOfUnservedLanes({ handlers, kinds, lanes, logger }: ResolvedWorkerOptions, served: Lines, worker: string): void {
  const unserved = [...handlers.keys()].filter((kind) => !served.isServed(kinds.get(kind)?.options.lane ?? ""));
  if (unserved.length === 0) return;
  logger.warn(
    { worker, kinds: unserved, lanes },
    "Handlers wait for kinds whose lane is not among the worker's lanes: only jobs enqueued into another lane reach them.",
  );
}
