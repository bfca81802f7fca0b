import { expect, test } from "vitest";
import type { Executor } from "./executor.js";
import { untilLost } from "./until-lost.js";

test("statements are sent until the connection is lost, and then reject with its error", async () => {
  const sent: string[] = [];
  const executor: Executor = { adapter: "mine", execute: async ({ sql }) => (sent.push(sql), { rows: [] }) };
  let loss: { readonly error: unknown } | undefined;
  const guarded = untilLost(executor, () => loss);
  expect(guarded.adapter).toBe("mine");
  expect(await guarded.execute({ sql: "before", parameters: [] })).toEqual({ rows: [] });
  loss = { error: undefined };
  expect(
    await guarded.execute({ sql: "after", parameters: [] }).then(
      () => "answered",
      (error: unknown) => ({ error }),
    ),
  ).toEqual(loss);
  expect(sent).toEqual(["before"]);
});
