/** What JSON can hold. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue | undefined };

/** Never a value: the compiler prints its type argument, a sentence, where a payload would not survive JSON. */
export interface NotJson<TReason extends string> {
  readonly "~notJson": TReason;
}

/** `T` where JSON keeps it, `NotJson<reason>` where JSON would change or lose it. */
export type JsonCheck<T> = [T] extends [JsonValue | undefined]
  ? T
  : unknown extends T // unknown and any: only the run time can tell
    ? T
    : T extends string | number | boolean | null | undefined
      ? T
      : T extends bigint
        ? NotJson<"JSON has no bigint: use a string">
        : T extends symbol
          ? NotJson<"JSON has no symbol">
          : T extends (...args: never) => unknown
            ? NotJson<"JSON has no functions">
            : T extends Date
              ? NotJson<"JSON turns a Date into a string: use a string">
              : T extends { toJSON(...args: never): unknown }
                ? NotJson<"JSON turns this into what its toJSON() returns: use that type">
                : T extends ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>
                  ? NotJson<"JSON turns a Map or Set into {}: use an array or an object">
                  : T extends ArrayBufferView | ArrayBuffer
                    ? NotJson<"JSON has no bytes: use a base64 string">
                    : { [K in keyof T]: JsonCheck<T[K]> };

/**
 * The bound of `job<T>()`: `T` itself, or the reason why it is none. A mapping of the check, because the check alone, a conditional
 * type, would be a circular constraint; and under a name, because the compiler prints it with the reason in it.
 */
export type JsonPayload<T> = KeptByJson<T extends void ? NotJson<"JSON has no undefined: use null"> : JsonCheck<T>>;

type KeptByJson<T> = { [K in keyof T]: T[K] };
