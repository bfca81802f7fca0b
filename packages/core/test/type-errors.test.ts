import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** A mistake, and what its user must read: the texts that the compiler's message holds, in this order. */
const mistakes: [name: string, code: string, ...texts: string[]][] = [
  ["a Date in a payload", "job<{ at: Date }>();", "JSON turns a Date into a string: use a string"],
  [
    "a Map deep in a payload",
    "job<{ deep: { list: { map: Map<string, number> }[] } }>();",
    "JSON turns a Map or Set into {}: use an array or an object",
  ],
  ["a bigint in a payload", "job<{ n: bigint }>();", "JSON has no bigint: use a string"],
  ["a method in a payload", "job<{ f(): void }>();", "JSON has no functions"],
  ["bytes in a payload", "job<{ b: Uint8Array }>();", "JSON has no bytes: use a base64 string"],
  ["a class with toJSON in a payload", "job<{ url: URL }>();", "JSON turns this into what its toJSON() returns: use that type"],
  ["a schema whose input is a Date", "job({ payload: z.object({ at: z.date() }) });", "JSON turns a Date into a string: use a string"],
  ["a slip in an option of job()", "job({ maxAtempts: 3 });", "'maxAtempts' does not exist", "'maxAttempts'"],
  ["a duration in words", 'job({ timeout: "2 seconds" });', '"2 seconds"\' is not assignable to type', "Duration"],
  ["a priority out of range", "job({ priority: 10 });", "'10' is not assignable to type", "Priority"],
  [
    "a slip in a kind",
    'queue.enqueue(trx, "mail.sent", { to: "x" });',
    '"mail.sent"\' is not assignable to parameter of type',
    '"mail.send"',
  ],
  ["a payload without a property", 'queue.enqueue(trx, "mail.send", {});', "Property 'to' is missing in type '{}'"],
  ["a property of the wrong type", 'queue.enqueue(trx, "mail.send", { to: 5 });', "'number' is not assignable to type 'string'"],
  ["a property too many", 'queue.enqueue(trx, "mail.send", { to: "x", cc: "y" });', "'cc' does not exist in type '{ to: string; }'"],
  [
    "a wrong payload in a batch",
    'queue.enqueueMany(trx, [{ kind: "mail.send", payload: { to: 5 } }]);',
    "'number' is not assignable to type 'string'",
  ],
  [
    "a pool as the first argument",
    'queue.enqueue(pool, "mail.send", { to: "x" });',
    "'Pool' is not assignable to parameter of type 'EnqueueTarget'",
  ],
  ["a status that is none", 'queue.admin(trx).jobs({ status: "failed" });', '"failed"\' is not assignable to type', '"dead"'],
  [
    "a kind that is none in a helper",
    'type X = InferPayload<typeof queue, "mail.sent">;',
    '"mail.sent"\' does not satisfy the constraint',
    '"mail.send"',
  ],
];

const head = `
import { createQueue, type InferPayload, job } from "@queue/core";
import type { Transaction } from "kysely";
import type pg from "pg";
import * as z from "zod";
declare const trx: Transaction<{}>;
declare const pool: pg.Pool;
const queue = createQueue({ jobs: { "mail.send": job<{ to: string }>(), "search.reindex": job<{ productId: string }>({ lane: "search" }) } });
`;

let folder: string;
let output: string;

beforeAll(async () => {
  await mkdir(`${root}node_modules/.cache`, { recursive: true });
  folder = await mkdtemp(`${root}node_modules/.cache/type-errors-`);
  const config = { extends: `${root}tsconfig.tests.json`, compilerOptions: { incremental: false }, include: ["*.ts"], exclude: [] };
  await writeFile(`${folder}/tsconfig.json`, JSON.stringify(config));
  await Promise.all(mistakes.map(([, code], n) => writeFile(`${folder}/mistake-${n}.ts`, `${head}${code}\nexport {};\n`)));
  output = await new Promise((resolve) => {
    // It fails, for there are errors, and prints them.
    execFile(process.execPath, [`${root}node_modules/typescript-7/bin/tsc`, "-p", folder], (_error, stdout) => resolve(stdout));
  });
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

describe("a mistake is marked where it was made, and says what is wrong", () => {
  test.each(mistakes.map(([name, , ...texts], n) => [name, n, texts] as const))("%s", (_name, n, texts) => {
    const messages = output.split(/^(?=\S)/m).filter((message) => message.includes(`mistake-${n}.ts`));
    expect(messages).toHaveLength(1);
    // On the line after the head, which the user wrote.
    expect(messages[0]).toContain(`mistake-${n}.ts(${head.split("\n").length},`);
    expect(messages[0]).not.toContain("No overload matches");
    let rest = messages[0] ?? "";
    for (const text of texts) {
      expect(rest).toContain(text);
      rest = rest.slice(rest.indexOf(text) + text.length);
    }
  });
});
