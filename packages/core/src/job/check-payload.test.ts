import { runInNewContext } from "node:vm";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { rejectionOf, thrownBy } from "../../test/support/thrown-by.js";
import { checkPayload } from "./check-payload.js";
import type { StandardResult, StandardSchemaV1 } from "./standard-schema.js";

const order = z.object({ orderId: z.string(), items: z.array(z.object({ price: z.number() })) });

describe("checkPayload", () => {
  test("gives what the schema makes of the payload, at once when the schema is synchronous", () => {
    const schema = z.object({ at: z.iso.datetime().transform((text) => new Date(text)), count: z.number().default(1) });
    expect(checkPayload("k", schema, { at: "2026-01-01T00:00:00Z" })).toEqual({ at: new Date(Date.UTC(2026, 0)), count: 1 });
  });

  test("waits for a schema that is asynchronous", async () => {
    const schema = v.pipeAsync(
      v.string(),
      v.checkAsync((text) => Promise.resolve(text === "good"), "not good"),
    );
    const answer = checkPayload("k", schema, "good");
    expect(answer).toBeInstanceOf(Promise);
    await expect(answer).resolves.toBe("good");
    expect(await rejectionOf(Promise.resolve(checkPayload("k", schema, "bad")))).toMatchObject({ code: "INVALID_PAYLOAD", path: "$" });
  });

  test("waits for a promise of another library or realm too, instead of taking it for an answer", async () => {
    const OtherPromise = runInNewContext("Promise") as PromiseConstructor;
    expect(OtherPromise.resolve()).not.toBeInstanceOf(Promise);
    const schema = (result: StandardResult<unknown>): StandardSchemaV1 => ({
      "~standard": { version: 1, vendor: "own", validate: () => OtherPromise.resolve(result) },
    });
    await expect(checkPayload("k", schema({ value: 5 }), 1)).resolves.toBe(5);
    expect(await rejectionOf(Promise.resolve(checkPayload("k", schema({ issues: [{ message: "no" }] }), 1)))).toMatchObject({
      code: "INVALID_PAYLOAD",
    });
  });

  test("refuses with the path of the first issue and the number of the others", () => {
    const error = thrownBy(() => checkPayload("order.pay", order, { items: [{ price: 1 }, { price: "2" }] }));
    expect(error).toMatchObject({ code: "INVALID_PAYLOAD", path: "$.orderId", isRetryable: false });
    expect(error.message).toMatch(/^The payload of "order\.pay" does not fit its schema: \$\.orderId: .+ \(and 1 more\)\.$/);
    expect(error.cause).toHaveLength(2);
  });

  test.each<[name: string, schema: StandardSchemaV1]>([
    ["zod", order],
    ["valibot", v.object({ orderId: v.string(), items: v.array(v.object({ price: v.number() })) })],
  ])("knows the path of an issue of %s", (_name, schema) => {
    const error = thrownBy(() => checkPayload("k", schema, { orderId: "1", items: [{ price: 1 }, { price: "2" }] }));
    expect(error).toMatchObject({ path: "$.items[1].price" });
  });

  test("an issue without a path is at the top", () => {
    const schema: StandardSchemaV1 = { "~standard": { version: 1, vendor: "own", validate: () => ({ issues: [{ message: "no" }] }) } };
    expect(thrownBy(() => checkPayload("k", schema, 1))).toMatchObject({
      path: "$",
      message: 'The payload of "k" does not fit its schema: $: no.',
    });
  });

  test("a schema that says neither value nor what is wrong is still a refusal", () => {
    const schema: StandardSchemaV1 = { "~standard": { version: 1, vendor: "own", validate: () => ({ issues: [] }) } };
    expect(thrownBy(() => checkPayload("k", schema, 1)).message).toBe('The payload of "k" does not fit its schema: $: refused.');
  });
});
