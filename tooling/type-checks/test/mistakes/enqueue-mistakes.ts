import type { Mistake } from "./mistake.js";

const enqueue = `queue.enqueue(trx, "search.reindex", { productId: "1" }`;

/** In a call of `enqueue`. */
export const enqueueMistakes: readonly Mistake[] = [
  {
    name: "a field that is missing",
    code: `queue.enqueue(trx, "order.send-receipt", { orderId: "1" }); // <- error`,
    says: "Property 'email' is missing in type '{ orderId: string; }' but required in type '{ orderId: string; email: string; }'.",
  },
  {
    name: "a field of the wrong type",
    code: `queue.enqueue(trx, "order.send-receipt", {
      orderId: 1, // <- error
      email: "a@example.com",
    });`,
    says: "Type 'number' is not assignable to type 'string'.",
  },
  {
    name: "a field of the wrong type, in a payload that was made before",
    code: `const payload = { orderId: 1, email: "a@example.com" };
    queue.enqueue(trx, "order.send-receipt", payload); // <- error`,
    says: "Types of property 'orderId' are incompatible.",
  },
  {
    name: "a field that is misspelt",
    code: `queue.enqueue(trx, "search.reindex", { productID: "1" }); // <- error`,
    says: "Object literal may only specify known properties, but 'productID' does not exist in type '{ productId: string; }'. Did you mean to write 'productId'?",
  },
  {
    name: "a field too many",
    code: `queue.enqueue(trx, "search.reindex", { productId: "1", now: true }); // <- error`,
    says: "Object literal may only specify known properties, and 'now' does not exist in type '{ productId: string; }'.",
  },
  {
    name: "undefined for a field that is needed",
    code: `queue.enqueue(trx, "search.reindex", { productId: undefined }); // <- error`,
    says: "Type 'undefined' is not assignable to type 'string'.",
  },
  {
    name: "a payload that is forgotten",
    code: `queue.enqueue(trx, "search.reindex"); // <- error`,
    says: "Expected 3-4 arguments, but got 2.",
  },
  {
    name: "a payload for a kind without one",
    code: `queue.enqueue(trx, "night.cleanup", {}); // <- error`,
    says: "Argument of type '{}' is not assignable to parameter of type 'null'.",
  },
  {
    name: "an unknown kind",
    code: `queue.enqueue(trx, "order.send-reciept", { orderId: "1", email: "a@example.com" }); // <- error`,
    says: `Argument of type '"order.send-reciept"' is not assignable to parameter of type '"order.send-receipt" | "search.reindex" | "night.cleanup"'.`,
    saysIn7: `Argument of type '"order.send-reciept"' is not assignable to parameter of type '"night.cleanup" | "order.send-receipt" | "search.reindex"'.`,
  },
  {
    name: "an unknown kind in a batch",
    code: `queue.enqueueMany(trx, [
      { kind: "search.reindex", payload: { productId: "1" } },
      { kind: "search.reindx", payload: { productId: "1" } }, // <- error
    ]);`,
    says: `Type '"search.reindx"' is not assignable to type '"order.send-receipt" | "search.reindex" | "night.cleanup"'. Did you mean '"search.reindex"'?`,
    saysIn7: `Type '"search.reindx"' is not assignable to type '"night.cleanup" | "order.send-receipt" | "search.reindex"'. Did you mean '"search.reindex"'?`,
  },
  {
    name: "a field of the wrong type in a batch",
    code: `queue.enqueueMany(trx, [
      { kind: "search.reindex", payload: { productId: "1" } },
      { kind: "search.reindex", payload: { productId: 1 } }, // <- error
    ]);`,
    says: "Type 'number' is not assignable to type 'string'.",
  },
  {
    name: "no transaction at all",
    code: `queue.enqueue("search.reindex", { productId: "1" }); // <- error`,
    says: "Expected 3-4 arguments, but got 2.",
  },
  {
    name: "a pool instead of a transaction",
    code: `queue.enqueue(pool, "search.reindex", { productId: "1" }); // <- error`,
    says: "Argument of type 'Pool' is not assignable to parameter of type 'EnqueueTarget'.",
  },
  {
    name: "a transaction of another library without its adapter",
    code: `drizzle.transaction(async (tx) => {
      await queue.enqueue(tx, "search.reindex", { productId: "1" }); // <- error
    });`,
    says: "Property 'adapter' is missing in type 'PgTransaction<NodePgQueryResultHKT, Record<string, never>, ExtractTablesWithRelations<Record<string, never>>>' but required in type 'Executor'.",
  },
  {
    name: "fromPg of a pool",
    code: `queue.enqueue(fromPg(pool), "search.reindex", { productId: "1" }); // <- error`,
    says: "Type 'Pool' is missing the following properties from type 'ClientBase': copyFrom, copyTo, pauseDrain, resumeDrain, and 5 more.",
  },
  {
    name: "fromDrizzle of a db",
    code: `queue.enqueue(fromDrizzle(drizzle), "search.reindex", { productId: "1" }); // <- error`,
    says: "Type 'NodePgDatabase<Record<string, never>>' is missing the following properties from type 'DrizzleTransaction': rollback, setTransaction",
  },
  {
    name: "fromPrisma of a client",
    code: `queue.enqueue(fromPrisma(prisma), "search.reindex", { productId: "1" }); // <- error`,
    says: "Types of property '$connect' are incompatible.",
  },
  {
    name: "fromKnex of a knex",
    code: `queue.enqueue(fromKnex(knex), "search.reindex", { productId: "1" }); // <- error`,
    says: "Property 'isCompleted' is missing in type 'Knex<any, any[]>' but required in type 'KnexTransaction'.",
  },
  {
    name: "a delay in words",
    code: `${enqueue}, { delay: "5 minuts" }); // <- error`,
    says: `Type '"5 minuts"' is not assignable to type 'Duration | undefined'.`,
  },
  {
    name: "an option that is misspelt",
    code: `${enqueue}, { maxAttempt: 3 }); // <- error`,
    says: "Object literal may only specify known properties, but 'maxAttempt' does not exist in type 'EnqueueOptions'. Did you mean to write 'maxAttempts'?",
  },
  {
    name: "an option of keys that is misspelt",
    code: `${enqueue}, { key: "1", keyHold: "5m" }); // <- error`,
    says: "Object literal may only specify known properties, but 'keyHold' does not exist in type 'EnqueueOptions'. Did you mean to write 'keyHolds'?",
  },
  {
    name: "a key that is held until something that does not exist",
    code: `${enqueue}, { key: "1", keyHolds: "until-done" }); // <- error`,
    says: `Type '"until-done"' is not assignable to type 'Duration | "until-started" | "until-ended" | undefined'.`,
    saysIn7: `Type '"until-done"' is not assignable to type '"until-ended" | "until-started" | Duration | undefined'.`,
  },
];
