import type { ClientBase } from "@neondatabase/serverless";
import { type ExecutableQuery, type Executor, hasMethods, queueError, showGiven } from "@queue/core/adapter";

/**
 * What a queue writes through, made of a `Client` or `PoolClient` of Neon's driver: a job that is enqueued through it is part of
 * the transaction that is open on the client, and runs if, and only if, that commits. Without an open transaction it is
 * committed at once.
 *
 * Refused, by the compiler and at run time: a `Pool`, each of whose statements takes any connection, and the `sql` of `neon()`,
 * which sends each statement by HTTP; with neither would the job be in the caller's transaction.
 *
 * @throws QueueError `INVALID_OPTION` when `client` is a pool, the `sql` of `neon()`, or no client at all
 * @example
 * const client = await pool.connect();
 * await client.query("begin");
 * await client.query("insert into orders …");
 * await queue.enqueue(fromNeon(client), "order.send-receipt", { orderId });
 * await client.query("commit");
 */
export function fromNeon(client: ClientBase): Executor {
  refuseOtherThanClient(client);
  return {
    adapter: "neon",
    scope: client,
    async execute<R>({ sql, parameters }: ExecutableQuery): Promise<{ rows: R[] }> {
      // Without a name: a named statement belongs to one backend, and Neon's pooler hands each transaction to another.
      const { rows } = await client.query<R & Record<string, unknown>>({ text: sql, values: [...parameters] });
      return { rows };
    },
  };
}

function refuseOtherThanClient(client: unknown): void {
  if (isPool(client)) {
    throw queueError(
      "INVALID_OPTION",
      "fromNeon takes a client, but was given a Pool. Each statement of a pool takes any of its connections, so the job would not be in your transaction. Take a client (`const client = await pool.connect()`), begin on it, and give that one.",
      { option: "client" },
    );
  }
  if (typeof client === "function") {
    throw queueError(
      "INVALID_OPTION",
      "fromNeon takes a client, but was given a function. The sql of neon() sends each statement by HTTP, so the job would not be in your transaction. Take a client of a Pool (`const client = await pool.connect()`), begin on it, and give that one.",
      { option: "client" },
    );
  }
  if (!hasMethods(client, "query", "connect")) {
    throw queueError(
      "INVALID_OPTION",
      `fromNeon takes a Client or PoolClient of @neondatabase/serverless, but was given ${showGiven(client)}.`,
      { option: "client" },
    );
  }
}

/** By shape: it may be another copy's. */
export function isPool(value: unknown): boolean {
  return hasMethods(value, "query", "connect") && typeof (value as { readonly totalCount?: unknown }).totalCount === "number";
}
