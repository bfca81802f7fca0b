import { deleteEnded } from "../store/delete-ended.js";
import { deleteReleasedKeys } from "../store/delete-released-keys.js";
import { forgetWorker } from "../store/forget-worker.js";
import { registerWorker } from "../store/register-worker.js";
import { checkedMs, checkedName, refuse } from "./check-arguments.js";
import { embedStatement } from "./embed-statement.js";
import type { SqlFunction } from "./sql-function.js";

/** What a worker does beside its work: say that it lives, and clean up. */
export function registryFunctions(schema: string): readonly SqlFunction[] {
  return [register(schema), unregister(schema), clean(schema)];
}

function register(schema: string): SqlFunction {
  const given = {
    worker: "given_worker",
    kinds: "given_kinds",
    lanes: "given_lanes",
    host: "given_host",
    pid: "given_pid",
    expiresInMs: "given_expires_ms",
  };
  return {
    name: "register_worker",
    parameters: [
      ["worker", "text"],
      ["kinds", "text[]"],
      ["lanes", "text[]", "null"],
      ["host", "text", "''"],
      ["pid", "integer", "0"],
      ["expires_in", "interval", "'30 seconds'"],
    ],
    returns: "boolean",
    body: `
declare
  given_worker text := ${checkedName(schema, "register_worker.worker", "worker", 200)};
  given_kinds text := register_worker.kinds::text;
  given_lanes text := register_worker.lanes::text;
  given_host text := coalesce(register_worker.host, '');
  given_pid integer := coalesce(register_worker.pid, 0);
  given_expires_ms bigint := ${checkedMs(schema, "register_worker.expires_in", "expires_in", 100, 86_400_000)};
  entry record;
begin
  if given_kinds is null then
    ${refuse("'register_worker: kinds is missing: the kinds that the worker has handlers for, as an array.'")}
  end if;
  for entry in
    ${embedStatement(registerWorker(schema), given)}
  loop
    return true;
  end loop;
  return false;
end`,
  };
}

function unregister(schema: string): SqlFunction {
  return {
    name: "unregister_worker",
    parameters: [["worker", "text"]],
    returns: "boolean",
    body: `
declare
  given_worker text := ${checkedName(schema, "unregister_worker.worker", "worker", 200)};
  entry record;
begin
  for entry in ${embedStatement(forgetWorker(schema), { worker: "given_worker" })} loop
    return true;
  end loop;
  return false;
end`,
  };
}

/** A bounded batch of each, but for keys that an event releases: they are all looked at, a second for 200,000. */
function clean(schema: string): SqlFunction {
  const walk = { afterKind: "given_after_kind", afterKey: "given_after_key", limit: "given_limit" };
  return {
    name: "clean",
    parameters: [["max_rows", "integer", "1000"]],
    returns: "table (keys bigint, effects bigint, archived bigint)",
    body: `
declare
  given_limit integer := clean.max_rows;
  given_after_kind text := '';
  given_after_key text := '';
  answer record;
begin
  if given_limit is null or given_limit not between 1 and 100000 then
    ${refuse("'clean: max_rows must be a whole number from 1 to 100000, but is ' || coalesce(given_limit::text, 'null') || '.'")}
  end if;
  for answer in
    ${embedStatement(deleteEnded(schema), { limit: "given_limit" })}
  loop
    keys := answer.keys::bigint;
    effects := answer.effects::bigint;
    archived := answer.archived::bigint;
  end loop;
  while given_after_key is not null loop
    for answer in
      ${embedStatement(deleteReleasedKeys(schema), walk)}
    loop
      keys := clean.keys + answer.deleted::bigint;
      given_after_kind := answer.kind;
      given_after_key := answer.key;
    end loop;
  end loop;
  return next;
end`,
  };
}
