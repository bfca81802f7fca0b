import pg from "pg";
import { steadyMs } from "./clock.js";
import type { ClaimTime } from "./protocol.js";

type AnyQuery = (...args: readonly unknown[]) => unknown;
interface Answer {
  readonly rows?: readonly unknown[];
}

/**
 * Times the claims of any library that uses pg, from the call to the rows, by standing in front of `Client.prototype.query`.
 * The same for every side, and blind to what a library says about itself.
 */
export function timeClaims(isClaim: (statement: string) => boolean): { take(): readonly ClaimTime[] } {
  let times: ClaimTime[] = [];
  const prototype = pg.Client.prototype as unknown as { query: AnyQuery };
  const query = prototype.query;
  prototype.query = function timedQuery(this: unknown, ...args: readonly unknown[]) {
    const statement = textOf(args[0]);
    if (statement === undefined || !isClaim(statement)) return query.apply(this, [...args]);
    const began = steadyMs();
    const note = (answer: Answer | undefined) => times.push({ ms: steadyMs() - began, rows: answer?.rows?.length ?? 0 });
    const last = args.at(-1);
    if (typeof last === "function") {
      const callback = last as AnyQuery;
      return query.apply(this, [
        ...args.slice(0, -1),
        (error: unknown, answer: Answer) => {
          note(answer);
          callback(error, answer);
        },
      ]);
    }
    return (query.apply(this, [...args]) as Promise<Answer>).then((answer) => {
      note(answer);
      return answer;
    });
  };
  return {
    take() {
      const taken = times;
      times = [];
      return taken;
    },
  };
}

function textOf(query: unknown): string | undefined {
  if (typeof query === "string") return query;
  const text = (query as { readonly text?: unknown } | null)?.text;
  return typeof text === "string" ? text : undefined;
}
