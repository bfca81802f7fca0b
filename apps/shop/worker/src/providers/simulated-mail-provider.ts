import { setTimeout as delay } from "node:timers/promises";
import { type Kysely, sql } from "kysely";
import { type Database, fractionOf } from "@shop/database";
import { type Mail, MailError, type MailProvider } from "./mail-provider.js";
import { mailWeather } from "./mail-weather.js";

export interface SimulatedMailProviderOptions {
  /** Stands for the provider's own memory, on its side of the wall. */
  readonly db: Kysely<Database>;
  /** Decides which requests fail. @default "shop" */
  readonly seed?: string | undefined;
  /** The longest time to an answer. @default 120 */
  readonly latencyMs?: number | undefined;
}

/**
 * A mail provider without a network: it is slow, it fails now and then, it knows that nobody lives at `*.invalid`, and it sends
 * once per idempotency key, whichever process asks. Each mail that it sent is a row of `mails`.
 */
export class SimulatedMailProvider implements MailProvider {
  readonly #db: Kysely<Database>;
  readonly #seed: string;
  readonly #latencyMs: number;

  constructor({ db, seed = "shop", latencyMs = 120 }: SimulatedMailProviderOptions) {
    this.#db = db;
    this.#seed = seed;
    this.#latencyMs = latencyMs;
  }

  async send(mail: Mail, { signal }: { readonly signal: AbortSignal }): Promise<void> {
    const request = await this.#countRequest(mail.idempotencyKey);
    await this.#travel(`${mail.idempotencyKey} ${request}`, signal);
    if (mail.to.endsWith(".invalid")) throw new MailError("no-such-mailbox", `550 There is no mailbox ${mail.to}.`);
    const weather = mailWeather(this.#seed, mail.idempotencyKey, request);
    switch (weather) {
      case "unavailable":
        throw new MailError("unavailable", "503 The mail provider is not available.");
      case "rate-limited":
        throw new MailError("rate-limited", "429 Too many mails at once.", 400);
      case "no-answer":
        await this.#deliver(mail);
        throw new MailError("no-answer", "The mail provider did not answer in time.");
      case "fair":
        await this.#deliver(mail);
    }
  }

  async #countRequest(idempotencyKey: string): Promise<number> {
    const { requests } = await this.#db
      .insertInto("mail_requests")
      .values({ idempotency_key: idempotencyKey, requests: 1 })
      .onConflict((conflict) => conflict.column("idempotency_key").doUpdateSet({ requests: sql<number>`mail_requests.requests + 1` }))
      .returning("requests")
      .executeTakeFirstOrThrow();
    return requests;
  }

  async #travel(request: string, signal: AbortSignal): Promise<void> {
    if (this.#latencyMs > 0) await delay(this.#latencyMs * (0.25 + 0.75 * fractionOf(request)), undefined, { signal });
  }

  async #deliver({ idempotencyKey, reference, to, subject, text }: Mail): Promise<void> {
    await this.#db
      .insertInto("mails")
      .values({ idempotency_key: idempotencyKey, reference, recipient: to, subject, text })
      .onConflict((conflict) => conflict.column("idempotency_key").doNothing())
      .execute();
  }
}
