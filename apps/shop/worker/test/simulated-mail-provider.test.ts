import { Kysely, PostgresDialect } from "kysely";
import { beforeAll, expect, test } from "vitest";
import { useTestDatabase } from "@queue/test-database";
import { createShopSchema, type Database } from "@shop/database";
import { mailWeather } from "../src/providers/mail-weather.js";
import { SimulatedMailProvider } from "../src/providers/simulated-mail-provider.js";

const database = useTestDatabase({ template: "empty" });
const { signal } = new AbortController();
let db: Kysely<Database>;
beforeAll(async () => {
  db = new Kysely<Database>({ dialect: new PostgresDialect({ pool: database.pool }) });
  await createShopSchema(db);
});

/** A key whose requests meet the weather that a test wants. */
function keyWith(...weather: string[]): string {
  for (let number = 0; ; number++) {
    const key = `key ${number}`;
    if (weather.every((expected, index) => mailWeather("test", key, index + 1) === expected)) return key;
  }
}

const mailOf = (idempotencyKey: string) => ({ to: "a@example.com", reference: "S-1", subject: "Hello", text: "…", idempotencyKey });
const sent = async (key: string) =>
  (await db.selectFrom("mails").select("idempotency_key").where("idempotency_key", "=", key).execute()).length;

test("the weather is the same for the same seed, key and request, and is never bad for a third time", () => {
  const keys = Array.from({ length: 1_000 }, (_, index) => `key ${index}`);
  const row = (seed: string, request: number) => keys.map((key) => mailWeather(seed, key, request));

  expect(row("shop", 1)).toEqual(row("shop", 1));
  expect(row("shop", 1)).not.toEqual(row("other", 1));
  expect(row("shop", 3).every((weather) => weather === "fair")).toBe(true);
  const bad = row("shop", 1).filter((weather) => weather !== "fair").length;
  expect(bad).toBeGreaterThan(200);
  expect(bad).toBeLessThan(400);
});

test("a mail is sent once per key, whichever of two processes is asked, and how often", async () => {
  const providers = [1, 2].map(() => new SimulatedMailProvider({ db, seed: "test", latencyMs: 0 }));
  const key = keyWith("fair", "fair");

  await Promise.all(providers.flatMap((provider) => [provider.send(mailOf(key), { signal }), provider.send(mailOf(key), { signal })]));

  expect(await sent(key)).toBe(1);
});

test("no answer means that the mail is sent and nobody knows; not available means that it is not", async () => {
  const provider = new SimulatedMailProvider({ db, seed: "test", latencyMs: 0 });
  const [unanswered, refused] = [keyWith("no-answer"), keyWith("unavailable")];

  await expect(provider.send(mailOf(unanswered), { signal })).rejects.toMatchObject({ failure: "no-answer" });
  await expect(provider.send(mailOf(refused), { signal })).rejects.toMatchObject({ failure: "unavailable" });

  expect(await sent(unanswered)).toBe(1);
  expect(await sent(refused)).toBe(0);
});

test("a request that is aborted on its way sends nothing", async () => {
  const provider = new SimulatedMailProvider({ db, seed: "test", latencyMs: 60_000 });
  const key = "aborted";
  const abort = new AbortController();

  const request = provider.send(mailOf(key), { signal: abort.signal });
  abort.abort();

  await expect(request).rejects.toMatchObject({ name: "AbortError" });
  expect(await sent(key)).toBe(0);
});
