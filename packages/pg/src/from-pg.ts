import type { ClientBase, QueryResultRow } from "pg";
import { type ExecutableQuery, type Executor, hasMethods, queueError, showGiven } from "@queue/core/adapter";

/**
 * What a queue writes through, made of a node-postgres client: a job that is enqueued through it is part of the transaction
 * that is open on the client, and runs if, and only if, that commits. Without an open transaction it is committed at once.
 *
 * A `Pool` is refused, by the compiler and at run time: each of its statements takes any connection, so the job would not be
 * in the caller's transaction.
 *
 * @throws QueueError `INVALID_OPTION` when `client` is a pool, or no client at all
 * @example
 * await client.query("begin");
 * await client.query("insert into orders …");
 * await queue.enqueue(fromPg(client), "order.send-receipt", { orderId });
 * await client.query("commit");
 */
export function fromPg(client: ClientBase): Executor {
  refuseOtherThanClient(client);
  return {
    adapter: "pg",
    scope: client,
    async execute<R>({ sql, parameters }: ExecutableQuery): Promise<{ rows: R[] }> {
      // Without a name: a named statement belongs to one backend, and a pooler hands each transaction to another.
      const { rows } = await client.query<R & QueryResultRow>({ text: sql, values: [...parameters] });
      return { rows };
    },
  };
}

function refuseOtherThanClient(client: unknown): void {
  if (isPool(client)) {
    throw queueError(
      "INVALID_OPTION",
      "fromPg takes a client, but was given a Pool. Each statement of a pool takes any of its connections, so the job would not be in your transaction. Take a client (`const client = await pool.connect()`), begin on it, and give that one.",
      { option: "client" },
    );
  }
  if (!hasMethods(client, "query", "connect")) {
    throw queueError("INVALID_OPTION", `fromPg takes a Client or PoolClient of node-postgres, but was given ${showGiven(client)}.`, {
      option: "client",
    });
  }
}

/** By shape: a pool may be another copy's, or of a library that imitates node-postgres. */
export function isPool(value: unknown): boolean {
  return hasMethods(value, "query", "connect") && typeof (value as { readonly totalCount?: unknown }).totalCount === "number";
}
