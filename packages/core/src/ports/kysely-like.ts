import { CompiledQuery } from "kysely";
import { queueError } from "../errors/queue-error.js";
import { showValue } from "../errors/show-value.js";
import type { Executor } from "./executor.js";

/**
 * Any copy and version of Kysely's `Kysely` and `Transaction`, by shape: their classes have #private members, so the types of
 * two copies do not fit each other. `never` fits every version's parameter. `insertInto` keeps a read-only Kysely out.
 */
export interface KyselyLike {
  readonly isTransaction: boolean;
  insertInto(table: never): { execute(): Promise<unknown[]> };
  withoutPlugins(): { executeQuery(query: never): Promise<{ rows: unknown[] }> };
}

/** What a queue writes through: a Kysely or Transaction, or what an adapter makes of another library's. */
export type EnqueueTarget = KyselyLike | Executor;

/** The parts of Kysely that are used at run time, and are the same in 0.28 and 0.29. */
interface KyselyShape {
  withoutPlugins(): { executeQuery<R>(query: CompiledQuery<R>): Promise<{ rows: R[] }> };
  getExecutor?(): { readonly adapter?: object };
}

/**
 * `target` as an executor. Plugins are left out: with CamelCasePlugin, Kysely would rename our columns and the keys inside
 * payloads, with ParseJSONResultsPlugin turn strings into objects.
 *
 * @throws QueueError `INVALID_OPTION` when it is neither
 */
export function toExecutor(target: EnqueueTarget): Executor {
  if (isExecutor(target)) return target;
  if (!isKysely(target)) {
    throw queueError(
      "INVALID_OPTION",
      `The first argument must be a Kysely, a Transaction, or what an adapter makes of another library's (fromPg(client) …), but is ${showValue(target)}${isPromise(target) ? ": an await is missing" : ""}.`,
      { option: "db" },
    );
  }
  const db = target.withoutPlugins();
  return {
    adapter: "kysely",
    scope: scopeOf(target),
    execute: <R>({ sql, parameters }: { readonly sql: string; readonly parameters: readonly unknown[] }) =>
      db.executeQuery<R>(CompiledQuery.raw(sql, parameters as unknown[])),
  };
}

function isExecutor(target: unknown): target is Executor {
  return hasMembers(target, ["execute"]) && typeof (target as Partial<Executor>).adapter === "string";
}

function isKysely(target: unknown): target is KyselyShape & KyselyLike {
  return hasMembers(target, ["withoutPlugins", "insertInto", "executeQuery"]);
}

function isPromise(target: unknown): boolean {
  return hasMembers(target, ["then"]);
}

function hasMembers(target: unknown, names: readonly string[]): boolean {
  return (
    typeof target === "object" && target !== null && names.every((name) => typeof (target as Record<string, unknown>)[name] === "function")
  );
}

/** A Kysely and its transactions share the dialect's adapter object, and nothing else that is public. */
function scopeOf(db: KyselyShape): object | undefined {
  const adapter = db.getExecutor?.().adapter;
  return typeof adapter === "object" ? adapter : undefined;
}
