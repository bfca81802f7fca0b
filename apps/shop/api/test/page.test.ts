import { afterEach, describe, expect, test } from "vitest";
import { PermanentError, RetryAfterError } from "@queue/core";
import { createWorker, type Worker } from "@queue/worker";
import { queue } from "@shop/jobs";
import { useShop } from "./use-shop.js";

const shop = useShop();
const logger = { debug() {}, info() {}, warn() {}, error() {} };
const get = async (path: string) => shop.api.request(path);
const page = async (path = "/") => (await get(path)).text();

async function placeOrder(customerId: number): Promise<string> {
  const response = await shop.post("/orders", { customerId, lines: [{ productId: 1, quantity: 1 }] });
  return ((await response.json()) as { orderId: string }).orderId;
}

/** The words in the cells of an order: receipt, warehouse, review. */
async function statesOf(orderId: string): Promise<string[]> {
  const row = (await page("/live")).split("<tr>").find((text) => text.includes(`<b>${orderId}</b>`)) ?? "";
  return [...row.matchAll(/<span class="state [a-z]+">([a-z]+)<\/span>/g)].map((match) => match[1] ?? "");
}

async function numbers(): Promise<Record<string, string>> {
  return Object.fromEntries([...(await page("/live")).matchAll(/<b>(\d+)<\/b><span>(\w+)<\/span>/g)].map((match) => [match[2], match[1]]));
}

test("nothing inline may run, nothing from elsewhere is loaded, nobody frames it", async () => {
  for (const path of ["/", "/live", "/health", "/style.css", "/live.js", "/icon.svg", "/nothing"]) {
    const { headers } = await get(path);
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("unsafe");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  }
  expect(await page()).not.toMatch(/<script(?! src="\/live\.js")|<style| style=| on\w+=/);
});

/** As long as a busy machine needs; what never comes fails all the same. */
const patiently = { timeout: 15_000 };

describe("the live state of an order's jobs", () => {
  let worker: Worker | undefined;
  afterEach(async () => worker?.stop({ grace: 0 }));

  test("follows them from waiting to their end", async () => {
    const [waits, runs, retries, dies, ends] = [
      await placeOrder(1),
      await placeOrder(2),
      await placeOrder(3),
      await placeOrder(4),
      await placeOrder(5),
    ];
    expect(await statesOf(waits)).toEqual(["waiting", "waiting", "scheduled"]);
    await expect.poll(numbers, patiently).toEqual({ waiting: "15", running: "0", retrying: "0", dead: "0", done: "0" });

    worker = createWorker({
      queue,
      db: shop.db,
      logger,
      lanes: ["mail"],
      handlers: {
        "order.send-receipt": async ({ payload }, { signal }) => {
          if (payload.orderId === retries) throw new RetryAfterError("1h", { message: "the printer is on fire" });
          if (payload.orderId === dies) throw new PermanentError("no such mailbox");
          if (payload.orderId === runs) await new Promise((resolve) => signal.addEventListener("abort", resolve));
        },
      },
    });
    await worker.start();

    await expect.poll(() => statesOf(ends), patiently).toEqual(["done", "waiting", "scheduled"]);
    await expect.poll(() => statesOf(runs), patiently).toEqual(["running", "waiting", "scheduled"]);
    await expect.poll(() => statesOf(retries), patiently).toEqual(["retrying", "waiting", "scheduled"]);
    await expect.poll(() => statesOf(dies), patiently).toEqual(["dead", "waiting", "scheduled"]);
    await expect.poll(numbers, patiently).toEqual({ waiting: "10", running: "1", retrying: "1", dead: "1", done: "2" });
    expect(await page("/live")).toContain("the printer is on fire");
  });

  test("the button returns the dead to the queue", async () => {
    const dead = await queue.admin(shop.db).jobs({ status: "dead" });
    expect(dead.items).toHaveLength(1);

    const response = await shop.api.request("/dead/redrive", { method: "POST" });

    expect(response.status).toBe(303);
    expect(response.headers.get("location")).toBe("/?redriven=1");
    expect((await queue.admin(shop.db).job(dead.items[0]?.id ?? "0"))?.status).toBe("queued");
    expect(await page("/?redriven=1")).toContain("Returned to the queue: 1 of the dead.");
  });

  test("a depot is opened by its button, which is gone then", async () => {
    expect(await page()).toContain("Open the depot Longyearbyen");

    const response = await shop.api.request("/depots/Longyearbyen/open", { method: "POST" });

    expect(response.status).toBe(303);
    expect(await page()).not.toContain("Open the depot Longyearbyen");
    expect((await shop.api.request("/depots/Atlantis/open", { method: "POST" })).status).toBe(404);
  });
});

describe("what people typed", () => {
  const scripts = ["<img src=x onerror=window.__x=1>", '"><svg onload=window.__x=1>', "</script><script>window.__x=1</script>"];

  test.each(scripts)("%s stays text: in names, goods, depots and error messages", async (script) => {
    await shop.db.updateTable("customers").set({ name: script }).where("id", "=", 6).execute();
    await shop.db.updateTable("products").set({ name: script }).where("id", "=", 1).execute();
    await shop.db.insertInto("depots").values({ name: script, is_open: false }).execute();
    const orderId = await placeOrder(6);
    const worker = createWorker({
      queue,
      db: shop.db,
      logger,
      lanes: ["warehouse"],
      handlers: {
        "order.notify-warehouse": () => {
          throw new PermanentError(script);
        },
      },
    });
    await worker.runUntilIdle();

    expect(await statesOf(orderId)).toEqual(["waiting", "dead", "scheduled"]);
    for (const path of ["/", "/live"]) {
      const text = await page(path);
      expect(text).not.toContain(script);
      expect(text).toContain(script.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;"));
    }
  });

  test("in the address is never shown", async () => {
    const address = `/?${scripts.map((script) => `placed=${encodeURIComponent(script)}&redriven=${encodeURIComponent(script)}&depot=${encodeURIComponent(script)}`).join("&")}`;

    expect(await page(address)).not.toContain("notice");
  });
});

test("browsers may tell the page's own forms from foreign ones: without a referrer they would send no origin", async () => {
  expect((await get("/")).headers.get("referrer-policy")).toBe("same-origin");
});

test("the page's files are served with their types", async () => {
  expect((await get("/style.css")).headers.get("content-type")).toContain("text/css");
  expect((await get("/live.js")).headers.get("content-type")).toContain("text/javascript");
  expect((await get("/icon.svg")).headers.get("content-type")).toBe("image/svg+xml");
});

test("GET /health is what the queue says of itself", async () => {
  const response = await get("/health");

  expect(response.headers.get("content-type")).toContain("application/json");
  const health = (await response.json()) as { lanes: { lane: string }[] };
  expect(health.lanes.map(({ lane }) => lane).sort()).toEqual(["mail", "reviews", "warehouse"]);
});
