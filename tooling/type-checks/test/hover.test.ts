import ts from "typescript";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openProgram, type Program } from "./program.js";

/** `/*name*\/` stands right before what is hovered. */
const text = `
import { createQueue, job } from "@queue/core";
import { createWorker, type Handler } from "@queue/worker";
import type { Kysely, Transaction } from "kysely";
import * as z from "zod";
interface Shop { orders: { id: string } }
declare const db: Kysely<Shop>;
declare const trx: Transaction<Shop>;
const receipt = z.object({ orderId: z.string(), email: z.email() });
const queue = createQueue({
  jobs: {
    "order.send-receipt": job({ payload: receipt, lane: "mail" }),
    "order.export": job({ payload: z.object({ from: z.coerce.date(), rows: z.number().default(100) }) }),
    "search.reindex": job<{ productId: string }>(),
    "night.cleanup": job(),
  },
});
createWorker({
  queue,
  db,
  handlers: {
    /*name*/"order.send-receipt": async ({ /*destructured*/payload, attempt }, /*context*/ctx) => {
      ctx.log.info({ attempt }, /*destructured-use*/payload.orderId);
    },
    "order.export": async (/*output*/job) => {
      job./*payload*/payload;
    },
    /*name-without-payload*/"night.cleanup": () => {},
    "search.reindex": {
      transactional: true,
      run: async (/*job*/job, { /*trx*/trx }) => {
        await trx.insertInto("orders").values({ id: job.payload./*field*/productId }).execute();
      },
    },
  },
});
const reindex: Handler<typeof queue, "search.reindex"> = async (/*job-in-a-file*/job) => {};
const /*result*/result = await queue.enqueue(trx, "search.reindex", { productId: "1" });
const { /*id*/id } = result;
const /*results*/results = await queue.enqueueMany(trx, []);
`;

let opened: Program;
let service: ts.LanguageService;

beforeAll(async () => {
  opened = await openProgram(new Map([["hover.ts", text]]));
  service = ts.createLanguageService({
    getCompilationSettings: () => opened.options,
    getScriptFileNames: () => [opened.pathOf("hover.ts")],
    getScriptVersion: () => "1",
    getScriptSnapshot: (path) => {
      const content = ts.sys.readFile(path);
      return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content);
    },
    getCurrentDirectory: () => opened.folder,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: ts.sys.fileExists,
    readFile: ts.sys.readFile,
    readDirectory: ts.sys.readDirectory,
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories,
  });
}, 120_000);

afterAll(async () => {
  await opened[Symbol.asyncDispose]();
});

/** What an editor shows over what follows `/*name*\/`, on one line. */
function hover(name: string): string {
  const marker = `/*${name}*/`;
  const info = service.getQuickInfoAtPosition(opened.pathOf("hover.ts"), text.indexOf(marker) + marker.length);
  return ts.displayPartsToString(info?.displayParts).replace(/\s+/g, " ");
}

test("the program that is hovered over has no error", () => {
  expect(service.getSemanticDiagnostics(opened.pathOf("hover.ts"))).toEqual([]);
});

describe("an editor shows over", () => {
  test.each([
    ["the job of a handler", "job", '(parameter) job: Job<"search.reindex", { productId: string; }>'],
    ["the job of a handler in a file of its own", "job-in-a-file", '(parameter) job: Job<"search.reindex", { productId: string; }>'],
    ["a job with a schema: its output", "output", '(parameter) job: Job<"order.export", { from: Date; rows: number; }>'],
    [
      "the payload of a job",
      "payload",
      '(property) Job<"order.export", { from: Date; rows: number; }>.payload: { from: Date; rows: number; }',
    ],
    ["a payload that is destructured", "destructured", "(parameter) payload: { orderId: string; email: string; }"],
    ["a destructured payload that is used", "destructured-use", "(parameter) payload: { orderId: string; email: string; }"],
    ["a field of a payload", "field", "(property) productId: string"],
    ["the context", "context", "(parameter) ctx: HandlerContext"],
    ["the transaction", "trx", "(parameter) trx: Transaction<Shop>"],
    [
      "the name of a handler",
      "name",
      '(property) "order.send-receipt"?: HandlerIn<Job<"order.send-receipt", { orderId: string; email: string; }>, Transaction<Shop>> | undefined',
    ],
    [
      "the name of a handler without a payload",
      "name-without-payload",
      '(property) "night.cleanup"?: HandlerIn<Job<"night.cleanup", null>, Transaction<Shop>> | undefined',
    ],
    ["the result of enqueue", "result", "const result: EnqueueResult"],
    ["the id in it", "id", "const id: string"],
    ["the results of enqueueMany", "results", "const results: EnqueueResult[]"],
  ])("%s", (_name, marker, shown) => {
    expect(hover(marker)).toBe(shown);
  });
});
