import { Kysely, PostgresDialect } from "kysely";
import { beforeAll, describe, expect, test } from "vitest";
import { useTestDatabase } from "@queue/test-database";
import type { WorkerEvent } from "@queue/worker";
import { closedDepot, createShopSchema, type Database, troubledCustomer } from "@shop/database";
import { type OrderJobKind, queue } from "@shop/jobs";
import { createShopWorker, type ShopWorkerOptions } from "../src/create-shop-worker.js";
import { type Mail, MailError, type MailProvider } from "../src/providers/mail-provider.js";
import { SimulatedMailProvider } from "../src/providers/simulated-mail-provider.js";
import { SimulatedTextMessageProvider } from "../src/providers/simulated-text-message-provider.js";
import type { TextMessageProvider } from "../src/providers/text-message-provider.js";

const database = useTestDatabase({ template: "empty" });
const silent = { debug() {}, info() {}, warn() {}, error() {} };
let db: Kysely<Database>;
beforeAll(async () => {
  db = new Kysely<Database>({ dialect: new PostgresDialect({ pool: database.newPool({ max: 14 }) }) });
  await createShopSchema(db);
});

async function insertOrder(customerId: number): Promise<string> {
  const { id } = await db
    .insertInto("orders")
    .values({ customer_id: customerId, total_cents: 1_190 })
    .returning("id")
    .executeTakeFirstOrThrow();
  await db.insertInto("order_lines").values({ order_id: id, product_id: 1, quantity: 1, price_cents: 1_190 }).execute();
  return id;
}

/** Works until the job is done or dead, through all its retries. */
async function work(jobId: string, options: Partial<ShopWorkerOptions> = {}): Promise<WorkerEvent[]> {
  const events: WorkerEvent[] = [];
  const mail = new SimulatedMailProvider({ db, latencyMs: 0 });
  const worker = createShopWorker({ db, mail, logger: silent, ...options, onEvent: (event) => events.push(event) });
  await worker.start();
  try {
    await expect.poll(async () => (await queue.admin(db).job(jobId))?.status, { timeout: 20_000 }).toMatch(/done|dead/);
  } finally {
    await worker.stop();
  }
  return events.filter((event) => "id" in event && event.id === jobId);
}

async function enqueue(kind: Exclude<OrderJobKind, "order.send-receipt">, orderId: string): Promise<string> {
  return (await queue.enqueue(db, kind, { orderId }, { key: orderId })).id;
}

describe("the receipt", () => {
  const enqueueReceipt = async (orderId: string, email = "amara.okafor@example.com") =>
    (await queue.enqueue(db, "order.send-receipt", { orderId, email }, { key: orderId })).id;
  const mailsOf = (orderId: string) => db.selectFrom("mails").selectAll().where("reference", "=", orderId).execute();

  test("is mailed once, with goods and total", async () => {
    const orderId = await insertOrder(1);

    await work(await enqueueReceipt(orderId));

    const [mail, ...others] = await mailsOf(orderId);
    expect(others).toEqual([]);
    expect(mail).toMatchObject({ recipient: "amara.okafor@example.com", subject: `Your order ${orderId}` });
    expect(mail?.text).toBe(
      `Dear Amara Okafor,\nthank you for your order ${orderId}:\n1 × Yirgacheffe beans, 250 g  €11.90\nTotal  €11.90`,
    );
  });

  test("is mailed once although the provider's answer was lost: each attempt has the same key", async () => {
    const orderId = await insertOrder(1);
    const keys: string[] = [];
    const honest = new SimulatedMailProvider({ db, latencyMs: 0 });
    const forgetful: MailProvider = {
      async send(mail: Mail, options) {
        keys.push(mail.idempotencyKey);
        await honest.send(mail, options).catch(() => {});
        if (keys.length < 3) throw new MailError("no-answer", "The provider did not answer in time.");
      },
    };

    const events = await work(await enqueueReceipt(orderId), { mail: forgetful });

    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
    expect(events.map((event) => event.type).filter((type) => type !== "job.started")).toEqual([
      "job.failed",
      "job.failed",
      "job.completed",
    ]);
    expect(await mailsOf(orderId)).toHaveLength(1);
  });

  test("to a mailbox that does not exist is dead at once", async () => {
    const orderId = await insertOrder(troubledCustomer.id);
    const id = await enqueueReceipt(orderId, troubledCustomer.email);

    await work(id);

    expect(await queue.admin(db).job(id)).toMatchObject({ status: "dead", attempts: 1, lastError: expect.stringContaining("no mailbox") });
    expect(await mailsOf(orderId)).toEqual([]);
  });

  test("comes back when the provider said", async () => {
    const orderId = await insertOrder(1);
    let requests = 0;
    const busy: MailProvider = {
      async send() {
        requests += 1;
        if (requests === 1) throw new MailError("rate-limited", "429 Too many mails at once.", 700);
      },
    };

    const id = await enqueueReceipt(orderId);

    await work(id, { mail: busy });

    const job = await queue.admin(db).job(id);
    expect(job).toMatchObject({ status: "done", attempts: 2 });
    const waitedMs = (job?.runAt.getTime() ?? 0) - (job?.errors[0]?.at.getTime() ?? 0);
    expect(waitedMs).toBeGreaterThanOrEqual(650);
    expect(waitedMs).toBeLessThan(750);
  });

  test("of an order that is not there is dead, with a sentence", async () => {
    const id = await enqueueReceipt("S-0");

    await work(id);

    expect(await queue.admin(db).job(id)).toMatchObject({ status: "dead", attempts: 1, lastError: "There is no order S-0." });
  });
});

describe("the shipment", () => {
  const statusOf = async (orderId: string) =>
    (await db.selectFrom("orders").select("status").where("id", "=", orderId).executeTakeFirstOrThrow()).status;

  test("marks the order shipped", async () => {
    const orderId = await insertOrder(2);

    await work(await enqueue("order.notify-warehouse", orderId));

    expect(await statusOf(orderId)).toBe("shipped");
  });

  test("from a closed depot uses up its attempts and ships nothing; redriven when the depot is open, it is shipped", async () => {
    const orderId = await insertOrder(troubledCustomer.id);
    const id = await enqueue("order.notify-warehouse", orderId);

    await work(id);

    expect(await queue.admin(db).job(id)).toMatchObject({
      status: "dead",
      attempts: 4,
      lastError: "The depot Longyearbyen does not answer.",
    });
    expect(await statusOf(orderId)).toBe("placed");

    await db.updateTable("depots").set({ is_open: true }).where("name", "=", closedDepot).execute();
    await queue.admin(db).redrive({ kind: "order.notify-warehouse" });
    await work(id);

    expect(await queue.admin(db).job(id)).toMatchObject({ status: "done", redrives: 1 });
    expect(await statusOf(orderId)).toBe("shipped");
  });
});

describe("the request for a review", () => {
  const textsOf = (orderId: string) => db.selectFrom("text_messages").select(["phone", "text"]).where("reference", "=", orderId).execute();

  const insertShippedOrder = async () => {
    const orderId = await insertOrder(3);
    await db.updateTable("orders").set({ status: "shipped" }).where("id", "=", orderId).execute();
    return orderId;
  };

  test("is sent to the customer's phone", async () => {
    const orderId = await insertShippedOrder();

    await work(await enqueue("order.ask-review", orderId));

    expect(await textsOf(orderId)).toEqual([
      { phone: "+44 7700 900173", text: `Hello Chiara D’Angelo, how do you like your order ${orderId}? Reply with 1 to 5 stars.` },
    ]);
  });

  test("is not sent again by the next worker, when one went down right after sending it", async () => {
    const orderId = await insertShippedOrder();
    const id = await enqueue("order.ask-review", orderId);
    const honest = new SimulatedTextMessageProvider(db);
    const silentProvider: TextMessageProvider = {
      async send(message, options) {
        await honest.send(message, options);
        await new Promise(() => {}); // the answer never comes
      },
    };
    const dying = createShopWorker({ db, textMessages: silentProvider, logger: silent });
    await dying.start();
    await expect.poll(() => textsOf(orderId), { timeout: 15_000 }).toHaveLength(1);
    await dying.stop({ grace: 0 });

    await work(id);

    expect(await queue.admin(db).job(id)).toMatchObject({ status: "done", attempts: 2 });
    expect(await textsOf(orderId)).toHaveLength(1);
  });

  test("is left out for an order that was not shipped", async () => {
    const orderId = await insertOrder(3);

    await work(await enqueue("order.ask-review", orderId));

    expect(await textsOf(orderId)).toEqual([]);
  });
});
