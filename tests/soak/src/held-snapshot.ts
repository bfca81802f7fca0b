import pg from "pg";

/** A transaction that sees the tables as they are now, and keeps vacuum from removing what it could see. */
export class HeldSnapshot {
  readonly #client: pg.Client;

  private constructor(client: pg.Client) {
    this.#client = client;
  }

  static async take(url: string): Promise<HeldSnapshot> {
    const client = new pg.Client({ connectionString: url, application_name: "a long report" });
    await client.connect();
    await client.query("begin isolation level repeatable read read only");
    await client.query("select 1 from queue.jobs limit 1");
    return new HeldSnapshot(client);
  }

  async release(): Promise<void> {
    await this.#client.query("commit");
    await this.#client.end();
  }
}
