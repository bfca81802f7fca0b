import { job, type JsonCheck, type JsonValue, type NotJson } from "@queue/core";
import * as v from "valibot";
import { expectTypeOf, test } from "vitest";
import * as z from "zod";

interface Tree {
  name: string;
  children: Tree[];
  parent?: Tree;
}
type MutableJson = string | number | boolean | null | MutableJson[] | { [key: string]: MutableJson };
class Money {
  readonly cents: number = 1;
  plus(other: Money): Money {
    return other;
  }
}

test("what JSON keeps may be a payload: interfaces, recursion, tuples, brands, any", () => {
  job<Tree>();
  job<MutableJson>();
  job<JsonValue>();
  job<string>();
  // oxlint-disable-next-line typescript/no-unnecessary-type-arguments -- also when it is said
  job<null>();
  job<readonly string[]>();
  job<[first: string, second?: number]>();
  job<"a" | "b" | 3>();
  // oxlint-disable-next-line typescript/no-explicit-any -- any is what an application may have
  job<any>();
  job<{
    id: string & { readonly __brand: "OrderId" };
    state?: "a" | "b";
    note: string | undefined;
    meta: unknown;
    more: Record<string, unknown>;
  }>();
});

test("the type says in a sentence why JSON does not keep it", () => {
  expectTypeOf<JsonCheck<Tree>>().toEqualTypeOf<Tree>();
  expectTypeOf<JsonCheck<Date>>().toEqualTypeOf<NotJson<"JSON turns a Date into a string: use a string">>();
  expectTypeOf<JsonCheck<bigint>>().toEqualTypeOf<NotJson<"JSON has no bigint: use a string">>();
  expectTypeOf<JsonCheck<symbol>>().toEqualTypeOf<NotJson<"JSON has no symbol">>();
  expectTypeOf<JsonCheck<() => void>>().toEqualTypeOf<NotJson<"JSON has no functions">>();
  expectTypeOf<JsonCheck<URL>>().toEqualTypeOf<NotJson<"JSON turns this into what its toJSON() returns: use that type">>();
  expectTypeOf<JsonCheck<Map<string, 1>>>().toEqualTypeOf<NotJson<"JSON turns a Map or Set into {}: use an array or an object">>();
  expectTypeOf<JsonCheck<Set<string>>>().toEqualTypeOf<NotJson<"JSON turns a Map or Set into {}: use an array or an object">>();
  expectTypeOf<JsonCheck<Uint8Array>>().toEqualTypeOf<NotJson<"JSON has no bytes: use a base64 string">>();
  expectTypeOf<JsonCheck<ArrayBuffer>>().toEqualTypeOf<NotJson<"JSON has no bytes: use a base64 string">>();
  expectTypeOf<JsonCheck<{ at: Date; note: string }>["at"]>().toEqualTypeOf<NotJson<"JSON turns a Date into a string: use a string">>();
  expectTypeOf<JsonCheck<{ at: Date; note: string }>["note"]>().toEqualTypeOf<string>();
});

test("what JSON changes is refused where the kind is defined", () => {
  // @ts-expect-error JSON turns a Date into a string: use a string
  job<{ at: Date }>();
  // @ts-expect-error JSON turns a Map or Set into {}: use an array or an object
  job<{ deep: { list: { map: Map<string, number> }[] } }>();
  // @ts-expect-error the same for a Set
  job<{ tags: Set<string> }>();
  // @ts-expect-error JSON has no bigint: use a string
  job<{ n?: bigint }>();
  // @ts-expect-error JSON has no symbol
  job<{ s: symbol }>();
  // @ts-expect-error JSON has no functions
  job<{ money: Money }>();
  // @ts-expect-error JSON has no bytes: use a base64 string
  job<{ bytes: Uint8Array }>();
  // @ts-expect-error JSON turns this into what its toJSON() returns: use that type
  job<{ url: URL }>();
  // @ts-expect-error one member of a union is enough
  job<{ type: "a"; x: 1 } | { type: "b"; y: Date }>();
});

test("a schema is judged by its input, which is what the table stores", () => {
  // @ts-expect-error z.date() can never read back what JSON made of it
  job({ payload: z.object({ at: z.date() }) });
  // @ts-expect-error the same for valibot
  job({ payload: v.object({ map: v.map(v.string(), v.string()) }) });
  job({ payload: z.object({ at: z.coerce.date() }) });
  job({
    payload: z.object({
      at: z.codec(z.iso.datetime(), z.date(), { decode: (text) => new Date(text), encode: (date) => date.toISOString() }),
    }),
  });
  job({ payload: z.any() });
  job({ payload: z.unknown() });
  job({ payload: z.json() });
});
