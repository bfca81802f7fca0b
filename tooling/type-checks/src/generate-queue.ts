/** How the payloads of a generated queue are defined: by a type, `job<…>()`, or by a schema of zod, `job({ payload })`. */
export type PayloadStyle = "types" | "schemas";

interface SampleKind {
  readonly type: string;
  readonly schema: string;
  readonly jobOptions: string;
  readonly payload: string;
  readonly enqueueOptions: string;
  readonly handler: string;
}

/** Kinds as applications have them, which take turns. */
const samples: readonly SampleKind[] = [
  {
    type: "{ orderId: string; email: string }",
    schema: "z.object({ orderId: z.string(), email: z.email() })",
    jobOptions: "",
    payload: '{ orderId: "1", email: "someone@example.com" }',
    enqueueOptions: "",
    handler: "async (job, ctx) => { ctx.log.info({ to: job.payload.email }, job.payload.orderId); }",
  },
  {
    type: '{ productId: string; reason: "changed" | "deleted" }',
    schema: 'z.object({ productId: z.string(), reason: z.enum(["changed", "deleted"]) })',
    jobOptions: 'lane: "search", maxAttempts: 3',
    payload: '{ productId: "1", reason: "changed" }',
    enqueueOptions: ', { key: "k" }',
    handler: "async ({ payload }) => { await use(payload.productId, payload.reason); }",
  },
  {
    type: '{ userId: string; template: "welcome" | "reminder"; data: Record<string, string>; locale?: string | undefined }',
    schema:
      'z.object({ userId: z.string(), template: z.enum(["welcome", "reminder"]), data: z.record(z.string(), z.string()), locale: z.string().optional() })',
    jobOptions: 'lane: "mail", timeout: "30s"',
    payload: '{ userId: "1", template: "welcome", data: { name: "Ada" } }',
    enqueueOptions: ', { delay: "10m" }',
    handler: "async (job, { signal }) => { signal.throwIfAborted(); await use(job.payload.userId, job.payload.locale); }",
  },
  {
    type: "{ invoiceId: string; lines: { sku: string; quantity: number; cents: number }[]; due: string; note?: string | undefined }",
    schema:
      "z.object({ invoiceId: z.string(), lines: z.array(z.object({ sku: z.string(), quantity: z.number(), cents: z.number() })), due: z.iso.datetime(), note: z.string().optional() })",
    jobOptions: "priority: 3",
    payload: '{ invoiceId: "1", lines: [{ sku: "a", quantity: 1, cents: 100 }], due: "2026-01-01T00:00:00Z" }',
    enqueueOptions: "",
    handler:
      '{ transactional: true, run: async (job, { trx }) => { await trx.insertInto("invoices").values({ id: job.payload.invoiceId }).execute(); } }',
  },
  {
    type: "{ reportId: string; from: string; rows: number }",
    schema: "z.object({ reportId: z.string(), from: z.iso.date(), rows: z.number() })",
    jobOptions: 'backoff: { base: "5s", cap: "1h" }, keep: "1d"',
    payload: '{ reportId: "1", from: "2026-01-01", rows: 10 }',
    enqueueOptions: ', { key: "k", keyHolds: "until-started", priority: 2 }',
    handler:
      'async (job) => { if (job.attempt > 3) return snooze("5m"); await use(job.payload.from, job.payload.rows); return undefined; }',
  },
];

/**
 * An application whose queue has `kinds` kinds, a handler for each, and an `enqueue` of each. With none, it is what everything
 * else costs: the packages, Kysely, zod and the compiler's start.
 *
 * @returns names to texts: the payloads, the queue, a producer and a worker
 */
export function generateQueue(kinds: number, style: PayloadStyle): ReadonlyMap<string, string> {
  const each: Each = (line) => eachOf(kinds, line);
  return new Map([
    ["payloads.ts", payloadsText(each, style)],
    ["queue.ts", queueText(each, style)],
    ["producer.ts", producerText(each)],
    ["worker.ts", workerText(each)],
  ]);
}

/** The same payloads beside an empty queue: what the application, or zod, costs by itself. */
export function generatePayloads(kinds: number, style: PayloadStyle): ReadonlyMap<string, string> {
  return new Map([...generateQueue(0, style), ["payloads.ts", payloadsText((line) => eachOf(kinds, line), style)]]);
}

/** Writes a line for each kind. */
type Each = (line: (sample: SampleKind, n: number) => string) => string;

function eachOf(kinds: number, line: (sample: SampleKind, n: number) => string): string {
  const turns = Array.from({ length: Math.ceil(kinds / samples.length) }, () => samples).flat();
  return turns.slice(0, kinds).map(line).join("\n");
}

function nameOf(n: number): string {
  return `"area-${Math.floor(n / 20)}.task-${n}"`;
}

function payloadsText(each: Each, style: PayloadStyle): string {
  return `import * as z from "zod";
export const nothing = z.object({});
${each(({ type, schema }, n) => (style === "types" ? `export type Payload${n} = ${type};` : `export const payload${n} = ${schema};`))}
`;
}

function queueText(each: Each, style: PayloadStyle): string {
  return `import { createQueue, job } from "@queue/core";
${style === "types" ? "import type" : "import"} * as payloads from "./payloads.js";
export type Payloads = typeof payloads;
export const empty = job();
export const queue = createQueue({
  jobs: {
${each(({ jobOptions }, n) =>
  style === "types"
    ? `    ${nameOf(n)}: job<payloads.Payload${n}>({ ${jobOptions} }),`
    : `    ${nameOf(n)}: job({ payload: payloads.payload${n}, ${jobOptions} }),`,
)}
  },
});
`;
}

function producerText(each: Each): string {
  return `import type { Transaction } from "kysely";
import { queue } from "./queue.js";
export async function produce(trx: Transaction<{ invoices: { id: string } }>): Promise<void> {
  await queue.enqueueMany(trx, []);
${each(({ payload, enqueueOptions }, n) => `  await queue.enqueue(trx, ${nameOf(n)}, ${payload}${enqueueOptions});`)}
}
`;
}

function workerText(each: Each): string {
  return `import { createWorker, snooze, type Worker } from "@queue/worker";
import type { Kysely } from "kysely";
import { queue } from "./queue.js";
declare const db: Kysely<{ invoices: { id: string } }>;
export declare function use(...values: unknown[]): Promise<void>;
export const later = snooze("5m");
export const worker: Worker = createWorker({
  queue,
  db,
  handlers: {
${each(({ handler }, n) => `    ${nameOf(n)}: ${handler},`)}
  },
});
`;
}
