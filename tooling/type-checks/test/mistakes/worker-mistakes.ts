import type { Mistake } from "./mistake.js";

/** A worker with one handler; what is behind it stays on its line. */
const handler = (text: string) => `createWorker({
  queue,
  db,
  handlers: {
    ${text}
  },
});`;

/** In a call of `createWorker`, or in a handler. */
export const workerMistakes: readonly Mistake[] = [
  {
    name: "a handler for a kind that does not exist",
    code: handler(`"search.reindx": async () => {}, // <- error`),
    says: `Object literal may only specify known properties, and '"search.reindx"' does not exist in type 'HandlersIn<NoInfer<…`,
  },
  {
    name: "a handler that is forgotten, where all are asked for",
    code: `({
      "search.reindex": async () => {},
      "order.send-receipt": async () => {},
    }) satisfies Required<Handlers<typeof queue, typeof db>>; // <- error`,
    says: `Property '"night.cleanup"' is missing in type '{ "search.reindex": () => Promise<void>; "order.send-receipt": () => Promise<void>; }' but required in type 'Required<Handlers<…`,
  },
  {
    name: "no handlers",
    code: `createWorker({ queue, db }); // <- error`,
    says: "Property 'handlers' is missing in type '{ queue: Queue<…",
  },
  {
    name: "handlers of another queue",
    code: `createWorker({
      queue: invoices,
      db,
      handlers: {
        "search.reindex": async (job) => {}, // <- error
      },
    });`,
    says: `Object literal may only specify known properties, and '"search.reindex"' does not exist in type 'HandlersIn<NoInfer<{ "invoice.print": JobDefinition<{ invoiceId: string; }, { invoiceId: string; }>; }>, Transaction<Shop>>'.`,
    alsoSays: "Parameter 'job' implicitly has an 'any' type.",
  },
  {
    name: "a field of another kind's payload",
    code: handler(`"search.reindex": async (job) => {
      await fetch(job.payload.orderId); // <- error
    },`),
    says: "Property 'orderId' does not exist on type '{ productId: string; }'.",
  },
  {
    name: "a field of another kind's payload, destructured",
    code: handler(`"search.reindex": async ({ payload: { orderId } }) => {}, // <- error`),
    says: "Property 'orderId' does not exist on type '{ productId: string; }'.",
  },
  {
    name: "the payload taken for the job",
    code: handler(`"search.reindex": async ({ productId }) => {}, // <- error`),
    says: `Property 'productId' does not exist on type 'Job<"search.reindex", { productId: string; }>'.`,
  },
  {
    name: "a parameter of another kind's type",
    code: handler(`"search.reindex": async (job: { payload: { orderId: string } }) => {}, // <- error`),
    says: "Property 'orderId' is missing in type '{ productId: string; }' but required in type '{ orderId: string; }'.",
  },
  {
    name: "another kind's handler",
    code: `declare const send: Handler<typeof queue, "order.send-receipt">;
    ${handler(`"search.reindex": send, // <- error`)}`,
    says: `Type '"search.reindex"' is not assignable to type '"order.send-receipt"'.`,
  },
  {
    name: "an unknown kind in the type of a handler",
    code: `declare const send: Handler<typeof queue, "order.send-reciept">; // <- error`,
    says: `Type '"order.send-reciept"' does not satisfy the constraint '"order.send-receipt" | "search.reindex" | "night.cleanup"'.`,
    saysIn7: `Type '"order.send-reciept"' does not satisfy the constraint '"night.cleanup" | "order.send-receipt" | "search.reindex"'.`,
  },
  {
    name: "an unknown kind in the type of a payload",
    code: `declare const payload: InferPayload<typeof queue, "order.send-reciept">; // <- error`,
    says: `Type '"order.send-reciept"' does not satisfy the constraint '"order.send-receipt" | "search.reindex" | "night.cleanup"'.`,
    saysIn7: `Type '"order.send-reciept"' does not satisfy the constraint '"night.cleanup" | "order.send-receipt" | "search.reindex"'.`,
  },
  {
    name: "a value that is returned",
    code: handler(`"search.reindex": async (job) => { // <- error
      return job.payload.productId;
    },`),
    says: "Type 'string' is not assignable to type 'HandlerResult'.",
  },
  {
    name: "a value that is returned, without a promise",
    code: handler(`"search.reindex": () => 42, // <- error`),
    says: "Type 'number' is not assignable to type 'HandlerResult | Promise<HandlerResult>'.",
    saysIn7: "Type 'number' is not assignable to type 'Promise<HandlerResult> | HandlerResult'.",
  },
  {
    name: "a value that a transactional handler returns",
    code: handler(`"search.reindex": {
      transactional: true,
      run: async () => 42, // <- error
    },`),
    says: "Type 'number' is not assignable to type 'HandlerResult'.",
  },
  {
    name: "a snooze in words",
    code: handler(`"search.reindex": async () => snooze("5 minuts"), // <- error`),
    says: `Argument of type '"5 minuts"' is not assignable to parameter of type 'Duration'.`,
  },
  {
    name: "a transaction in a handler that is not transactional",
    code: handler(`"search.reindex": async (job, { trx }) => {}, // <- error`),
    says: "Property 'trx' does not exist on type 'HandlerContext'.",
  },
  {
    name: "transactional that is forgotten",
    code: handler(`"search.reindex": { run: async (job, { trx }) => {} }, // <- error`),
    says: `Property 'transactional' is missing in type '{ run: (job: Job<"search.reindex", { productId: string; }>, { trx }: TransactionalContext<Transaction<Shop>>) => Promise<void>; }' but required in type 'TransactionalRun<Job<"search.reindex", { productId: string; }>, Transaction<Shop>>'.`,
  },
  {
    name: "the transaction of another library, given on",
    code: `declare function write(trx: Knex.Transaction): Promise<void>;
    ${handler(`"search.reindex": {
      transactional: true,
      run: async (job, { trx }) => {
        await write(trx); // <- error
      },
    },`)}`,
    says: "Type 'Transaction<Shop>' is missing the following properties from type 'Transaction<any, any[]>': executionPromise, isCompleted, query, savepoint, and 177 more.",
  },
  {
    name: "a handler for the transaction of another library",
    code: `declare const reindex: TransactionalHandler<typeof queue, "search.reindex", typeof db>;
    createWorker({
      queue,
      db: drizzleDatabase(drizzle),
      handlers: {
        "search.reindex": reindex, // <- error
      },
    });`,
    says: "Type 'PgTransaction<NodePgQueryResultHKT, Record<string, never>, ExtractTablesWithRelations<Record<string, never>>>' is missing the following properties from type 'Transaction<Shop>': #private, isTransaction, connection, destroy, and 22 more.",
    saysIn7:
      "Type 'PgTransaction<NodePgQueryResultHKT, Record<string, never>, ExtractTablesWithRelations<Record<string, never>>>' is missing the following properties from type 'Transaction<Shop>': withRecursive, #private, isTransaction, connection, and 22 more.",
  },
  {
    name: "a transaction instead of a db",
    code: `createWorker({ queue, db: trx, handlers: {} }); // <- error`,
    says: `Property '"~error"' is missing in type 'Transaction<Shop>' but required in type '{ readonly "~error": "db must be a Kysely, not a Transaction: the worker begins its own"; }'.`,
  },
  {
    name: "a pool instead of a db",
    code: `createWorker({ queue, db: pool, handlers: {} }); // <- error`,
    says: "Type 'Pool' is not assignable to type 'DatabaseTarget'.",
  },
  {
    name: "a db of another library without its adapter",
    code: `createWorker({ queue, db: drizzle, handlers: {} }); // <- error`,
    says: "Property 'adapter' is missing in type 'NodePgDatabase<Record<string, never>>' but required in type 'AnyAdapterDatabase'.",
  },
  {
    name: "an option that is misspelt",
    code: `createWorker({
      queue,
      db: knexDatabase(knex),
      handlers: {},
      concurency: 3, // <- error
    });`,
    says: "Object literal may only specify known properties, but 'concurency' does not exist in type 'WorkerOptions<…",
  },
  {
    name: "a lease in words",
    code: `createWorker({
      queue,
      db,
      handlers: {},
      lease: "5 minuts", // <- error
    });`,
    says: `Type '"5 minuts"' is not assignable to type 'Duration | undefined'.`,
  },
];
