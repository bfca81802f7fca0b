import type { Mistake } from "./mistake.js";

const date = `NotJson<"JSON turns a Date into a string: use a string">`;

/** In a call of `job` or `createQueue`. */
export const definitionMistakes: readonly Mistake[] = [
  {
    name: "a Date in a payload",
    code: `createQueue({
      jobs: {
        remind: job<{ at: Date }>(), // <- error
      },
    });`,
    says: `Type '{ at: Date; }' does not satisfy the constraint 'KeptByJson<{ at: ${date}; }>'.`,
  },
  {
    name: "a Date as a payload",
    code: `job<Date>(); // <- error`,
    says: `Property '"~notJson"' is missing in type 'Date' but required in type 'KeptByJson<${date}>'.`,
  },
  {
    name: "a list of Dates as a payload",
    code: `job<Date[]>(); // <- error`,
    says: `Type 'Date[]' does not satisfy the constraint '${date}[]'.`,
  },
  {
    name: "a Map in a payload",
    code: `job<{ prices: Map<string, number> }>(); // <- error`,
    says: `Type '{ prices: Map<string, number>; }' does not satisfy the constraint 'KeptByJson<{ prices: NotJson<"JSON turns a Map or Set into {}: use an array or an object">; }>'.`,
  },
  {
    name: "a bigint in a payload",
    code: `job<{ cents: bigint }>(); // <- error`,
    says: `Type 'bigint' is not assignable to type 'NotJson<"JSON has no bigint: use a string">'.`,
  },
  {
    name: "a bigint as a payload",
    code: `job<bigint>(); // <- error`,
    says: `Type 'bigint' does not satisfy the constraint 'KeptByJson<NotJson<"JSON has no bigint: use a string">>'.`,
  },
  {
    name: "a bigint as one payload of several",
    code: `job<string | bigint>(); // <- error`,
    says: `Type 'string | bigint' does not satisfy the constraint 'KeptByJson<string | NotJson<"JSON has no bigint: use a string">>'.`,
  },
  {
    name: "a symbol as a payload",
    code: `job<symbol>(); // <- error`,
    says: `Type 'symbol' does not satisfy the constraint 'KeptByJson<NotJson<"JSON has no symbol">>'.`,
  },
  {
    name: "a function as a payload",
    code: `job<() => void>(); // <- error`,
    says: `Type '() => void' does not satisfy the constraint 'KeptByJson<NotJson<"JSON has no functions">>'.`,
  },
  {
    name: "a function in a payload",
    code: `job<{ done: () => void }>(); // <- error`,
    says: `Type '() => void' is not assignable to type 'NotJson<"JSON has no functions">'.`,
  },
  {
    name: "undefined as a payload",
    code: `job<undefined>(); // <- error`,
    says: `Type 'undefined' does not satisfy the constraint 'KeptByJson<NotJson<"JSON has no undefined: use null">>'.`,
  },
  {
    name: "void as a payload",
    code: `job<void>(); // <- error`,
    says: `Type 'void' does not satisfy the constraint 'KeptByJson<NotJson<"JSON has no undefined: use null">>'.`,
  },
  {
    name: "a Date in a schema",
    code: `createQueue({
      jobs: {
        remind: job({
          payload: z.object({ at: z.date() }), // <- error
          lane: "mail",
        }),
      },
    });`,
    says: `Property '"~notJson"' is missing in type 'Date' but required in type '${date}'.`,
  },
  {
    name: "an object instead of a schema",
    code: `job({ payload: { orderId: "string" } }); // <- error`,
    says: "Object literal may only specify known properties, and 'orderId' does not exist in type 'StandardSchemaV1<unknown, unknown>'.",
  },
  {
    name: "options instead of a job",
    code: `createQueue({ jobs: { remind: { lane: "mail" } } }); // <- error`,
    says: "Object literal may only specify known properties, and 'lane' does not exist in type 'JobDefinition<unknown, unknown>'.",
  },
  {
    name: "a timeout in words",
    code: `job<{ orderId: string }>({
      lane: "mail",
      timeout: "5 minuts", // <- error
    });`,
    says: `Type '"5 minuts"' is not assignable to type 'Duration | undefined'.`,
  },
  {
    name: "an option that is misspelt",
    code: `job({
      payload: receipt,
      maxAttempt: 3, // <- error
    });`,
    says: "Object literal may only specify known properties, but 'maxAttempt' does not exist in type 'JobOptions & { readonly payload?: ZodObject<{ orderId: ZodString; email: ZodEmail; }, $strip>; }'. Did you mean to write 'maxAttempts'?",
  },
];
