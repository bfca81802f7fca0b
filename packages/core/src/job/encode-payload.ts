import { types } from "node:util";
import { QueueError, queueError } from "../errors/queue-error.js";
import { showPath } from "./payload-path.js";

/** Deeper, PostgreSQL's own JSON parser comes near the end of its stack. */
export const maxPayloadDepth = 1_000;
/** In UTF-16 units. jsonb ends at 256 MB, and can be six times as long as its text: `[1,1,…]`. */
export const maxPayloadLength = 16 * 1024 * 1024;

/** NUL, and half of a surrogate pair: legal in JavaScript and in JSON text, refused by jsonb. */
// oxlint-disable-next-line no-control-regex -- the control character is the point
const refusedByJsonb = /[\u0000\p{Surrogate}]/u;

/**
 * `payload` as JSON text that jsonb takes and gives back unchanged. It is written here, in one walk, instead of being checked
 * first and given to JSON.stringify then: a getter or a toJSON could answer differently the second time.
 *
 * `undefined` is `null` at the top and left out of objects; a Date (or anything with toJSON) becomes what its toJSON returns;
 * what JSON would silently change or lose (NaN, a Map, `undefined` in an array, a cycle) is refused with its path.
 *
 * @throws QueueError `INVALID_PAYLOAD` with `path`
 */
export function encodePayload(payload: unknown): string {
  const text = encodeTop(payload) ?? "null";
  if (text.length > maxPayloadLength) {
    throw refuse([], `is ${text.length} characters of JSON, more than ${maxPayloadLength}: store the data elsewhere and enqueue its id`);
  }
  return text;
}

function encodeTop(payload: unknown): string | undefined {
  const path: PropertyKey[] = [];
  try {
    return encodeValue(payload, path, new Set());
  } catch (error) {
    // `path` is where it stopped. What is not ours was thrown by a trap of a proxy.
    throw QueueError.is(error, "INVALID_PAYLOAD") ? error : refuse(path, "cannot be read: it throws", error);
  }
}

/** `undefined`: it is to be left out. */
function encodeValue(value: unknown, path: PropertyKey[], ancestors: Set<object>): string | undefined {
  switch (typeof value) {
    case "string":
      if (refusedByJsonb.test(value)) throw refuseText(path, value);
      return JSON.stringify(value);
    case "number":
      if (!Number.isFinite(value)) throw refuse(path, `is ${value}, which JSON does not have: use null or a string`);
      return JSON.stringify(value);
    case "boolean":
      return value ? "true" : "false";
    case "undefined":
      return undefined;
    case "object":
      return value === null ? "null" : encodeObject(value, path, ancestors);
    case "bigint":
      throw refuse(path, "is a bigint, which JSON does not have: use a string");
    case "function":
    case "symbol":
      throw refuse(path, `is a ${typeof value}, which JSON does not have`);
  }
}

function encodeObject(value: object, path: PropertyKey[], ancestors: Set<object>): string | undefined {
  if (ancestors.has(value)) throw refuse(path, "refers back to an object that contains it: JSON has no cycles");
  if (ancestors.size >= maxPayloadDepth) throw refuse(path, `is nested deeper than ${maxPayloadDepth} levels`);
  const reason = whyNotJson(value, path);
  if (reason !== undefined) throw refuse(path, reason);
  ancestors.add(value);
  const text = Array.isArray(value) ? encodeArray(value, path, ancestors) : encodeRecord(value, path, ancestors);
  ancestors.delete(value);
  return text;
}

function encodeArray(array: readonly unknown[], path: PropertyKey[], ancestors: Set<object>): string {
  let text = "[";
  for (let index = 0; index < array.length; index++) {
    path.push(index);
    const item = encodeValue(array[index], path, ancestors);
    if (item === undefined) throw refuse(path, "is undefined, which JSON does not have inside an array: use null");
    text += index > 0 ? `,${item}` : item;
    path.pop();
  }
  return `${text}]`;
}

function encodeRecord(record: object, path: PropertyKey[], ancestors: Set<object>): string | undefined {
  const own = readProperty(record, "toJSON", path);
  if (typeof own === "function") return encodeValue(callToJson(record, own, path), path, ancestors);
  let text = "{";
  for (const key of Object.keys(record)) {
    path.push(key);
    const value = encodeValue(readProperty(record, key, path), path, ancestors);
    if (value !== undefined) {
      if (refusedByJsonb.test(key)) throw refuseText(path, key);
      text += `${text.length > 1 ? "," : ""}${JSON.stringify(key)}:${value}`;
    }
    path.pop();
  }
  return `${text}}`;
}

function readProperty(record: object, key: string, path: readonly PropertyKey[]): unknown {
  try {
    return (record as Record<string, unknown>)[key];
  } catch (error) {
    throw refuse(path, "has a getter that throws", error);
  }
}

function callToJson(record: object, toJson: unknown, path: readonly PropertyKey[]): unknown {
  try {
    return (toJson as (this: object, key: string) => unknown).call(record, String(path.at(-1) ?? ""));
  } catch (error) {
    throw refuse(path, "has a toJSON() that throws", error);
  }
}

/**
 * Objects that JSON.stringify takes without a word and turns into something else, mostly `{}`: whatever the language, the runtime
 * or another realm (vm, jest, a worker thread) has built in. They are known by what they call themselves, not by their class.
 */
function whyNotJson(value: object, path: readonly PropertyKey[]): string | undefined {
  if (Array.isArray(value)) return undefined;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return undefined;
  if (types.isDate(value)) return Number.isNaN(Date.prototype.getTime.call(value)) ? "is an invalid Date" : undefined;
  if (types.isBoxedPrimitive(value)) return "is a boxed primitive: use the plain value";
  if (types.isMap(value) || types.isSet(value)) return "is a Map or a Set, which JSON turns into {}: use an array or an object";
  if (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value)) return "holds bytes, which JSON does not have: use a base64 string";
  if (types.isPromise(value)) return "is a Promise: an await is missing";
  if (types.isNativeError(value) || value instanceof Error) return "is an Error that JSON turns into {}: use its text";
  if (typeof readProperty(value, "toJSON", path) === "function") return undefined;
  const tag = Object.prototype.toString.call(value).slice("[object ".length, -1);
  return tag === "Object" ? undefined : `is an object (${tag}) that JSON turns into {}: use what is in it`;
}

function refuseText(path: readonly PropertyKey[], text: string): QueueError {
  const what = text.includes("\u0000") ? "a NUL character" : "half of a surrogate pair (a string cut in the middle of a character)";
  return refuse(path, `has ${what}, which PostgreSQL's jsonb refuses: remove it or encode the text`);
}

function refuse(path: readonly PropertyKey[], reason: string, cause?: unknown): QueueError {
  const shown = showPath(path);
  return queueError("INVALID_PAYLOAD", `The payload cannot be stored: ${shown} ${reason}.`, { path: shown }, { cause });
}
