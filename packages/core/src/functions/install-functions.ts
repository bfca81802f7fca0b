import { createHash } from "node:crypto";
import { quoteBody, quoteIdentifier, quoteLiteral } from "../migrations/quote.js";
import type { SchemaMigration } from "../migrations/schema-migration.js";
import { argumentChecks } from "./check-arguments.js";
import { claimFunctions } from "./claim.js";
import { enqueueFunctions } from "./enqueue.js";
import { enqueuePlans } from "./enqueue-plans.js";
import { editionOf, functionsEdition, padEdition } from "./function-steps.js";
import type { KeptPlan } from "./kept-plans.js";
import { leaseFunctions } from "./leases.js";
import { optionReaders, prepareJobFunction } from "./prepare-job.js";
import { registryFunctions } from "./registry.js";
import { settleFunctions } from "./settle.js";
import { createFunction, markerOf, markerPrefix, planMarkerPrefix, signatureOf, type SqlFunction } from "./sql-function.js";
import { wakeUpFunctions } from "./wake-up.js";
import { workerPlans } from "./worker-plans.js";

/** All that keep plans. */
export function schemaPlans(schema: string): readonly KeptPlan[] {
  return [...workerPlans(schema), ...enqueuePlans(schema)];
}

/** All functions for programs in other languages, in the order of their creation, and those that keep plans. */
export function schemaFunctions(schema: string): readonly SqlFunction[] {
  return [
    ...argumentChecks,
    ...optionReaders,
    prepareJobFunction(schema),
    ...enqueueFunctions(schema),
    ...claimFunctions(schema),
    ...settleFunctions(schema),
    ...leaseFunctions(schema),
    ...registryFunctions(schema),
    ...wakeUpFunctions(schema),
    ...schemaPlans(schema).map(({ definition }) => definition),
  ];
}

/**
 * The step that installs the functions. Unlike others it is applied again when its text has changed: its name carries the edition and a hash.
 * Replacing them breaks no process of ours: what it calls is left to it for another edition, and then it sends the statement.
 */
export function functionsStep(): SchemaMigration {
  const statements = (schema: string) => {
    const functions = schemaFunctions(schema);
    return [dropOutdated(schema, functions), ...functions.map((one) => createFunction(schema, one))];
  };
  const hash = createHash("sha256").update(statements("queue").join("\n")).digest("hex").slice(0, 12);
  return { name: `functions-${padEdition(functionsEdition)}-${hash}`, breaksOlderWorkers: false, statements };
}

/** Whether the step is to be applied to a schema that has had the steps `done`: neither this one, nor a later edition. */
export function areFunctionsPending({ name }: SchemaMigration, done: ReadonlySet<string>): boolean {
  return !done.has(name) && [...done].every((step) => (editionOf(step) ?? 0) <= functionsEdition);
}

/**
 * Drops functions of an earlier edition that are gone or have another signature now. Those that keep plans stay until the next
 * edition, because processes of the edition before still call them, in transactions of the application. What the schema's owner has
 * made is neither dropped nor replaced.
 */
function dropOutdated(schema: string, functions: readonly SqlFunction[]): string {
  const list = (texts: readonly string[]) => `array[${texts.map(quoteLiteral).join(", ")}]::text[]`;
  const marker = 'pg_catalog.split_part(p.prosrc, pg_catalog.chr(10), 2) collate "C"';
  const inSchema = `p.pronamespace = pg_catalog.to_regnamespace(${quoteLiteral(quoteIdentifier(schema))})`;
  const isPlan = `pg_catalog.starts_with(${marker}, '${planMarkerPrefix}')`;
  return `do ${quoteBody(`
declare
  latest text := (select pg_catalog.max(${marker}) from pg_catalog.pg_proc p where ${inSchema} and ${isPlan});
  name text;
begin
  for name in
    select p.oid::pg_catalog.regprocedure::text from pg_catalog.pg_proc p
     where ${inSchema}
       and case when ${isPlan} then ${marker} < latest
                else pg_catalog.starts_with(${marker}, '${markerPrefix}') and ${marker} <> all(${list(functions.map(markerOf))}) end
  loop
    execute 'drop function ' || name;
  end loop;
  for name in
    select p.oid::pg_catalog.regprocedure::text from unnest(${list(functions.map((one) => signatureOf(schema, one)))}) as s(signature)
      join pg_catalog.pg_proc p on p.oid = pg_catalog.to_regprocedure(s.signature)
     where not pg_catalog.starts_with(${marker}, '${markerPrefix}') and not ${isPlan}
  loop
    raise exception using errcode = '42723',
      message = 'The function ' || name || ' is not the queue''s, which has one of that name and these arguments. Rename it, or give the queue a schema of its own.';
  end loop;
end
`)}`;
}
