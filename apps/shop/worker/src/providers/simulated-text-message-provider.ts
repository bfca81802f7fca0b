import type { Kysely } from "kysely";
import type { Database } from "@shop/database";
import type { TextMessage, TextMessageProvider } from "./text-message-provider.js";

/** Text messages without a network: each that was sent is a row of `text_messages`. */
export class SimulatedTextMessageProvider implements TextMessageProvider {
  readonly #db: Kysely<Database>;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  async send(message: TextMessage, { signal }: { readonly signal: AbortSignal }): Promise<void> {
    signal.throwIfAborted();
    await this.#db.insertInto("text_messages").values(message).execute();
  }
}
