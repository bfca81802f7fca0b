import type { EnqueueTarget, ExecutableQuery } from "@queue/core/adapter";

/** What a transaction of a library is used for. */
export interface AdapterTransaction {
  /** What the queue is given to write through. */
  readonly target: EnqueueTarget;
  /** Runs a statement as an application would write it with this library, without any of ours. */
  run(query: ExecutableQuery): PromiseLike<unknown>;
}

/** One library in front of PostgreSQL, as an application has it open, with a pool of its own. */
export interface AdapterSession {
  /** Runs `body` in a transaction that the library begins and commits. */
  transaction(body: (transaction: AdapterTransaction) => Promise<void>): PromiseLike<unknown>;
  close(): Promise<unknown>;
}

export interface AdapterSide {
  readonly name: string;
  open(url: string): Promise<AdapterSession>;
}
