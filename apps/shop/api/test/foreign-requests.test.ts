import { describe, expect, test } from "vitest";
import { useShop } from "./use-shop.js";

const shop = useShop();
const order = JSON.stringify({ customerId: 1, lines: [{ productId: 1, quantity: 1 }] });

async function post(path: string, headers: Record<string, string>, url = "http://localhost:4000"): Promise<number> {
  const response = await shop.api.request(`${url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: order,
  });
  return response.status;
}

const paths = ["/orders", "/orders/random", "/dead/redrive", "/depots/Longyearbyen/open"];
const foreign: [string, Record<string, string>][] = [
  ["another origin", { origin: "https://evil.example" }],
  ["another port of this machine", { origin: "http://localhost:4001" }],
  ["another scheme", { origin: "https://localhost:4000" }],
  ["an origin that hides itself", { origin: "null" }],
  ["another site, by its fetch metadata", { "sec-fetch-site": "cross-site" }],
  ["another port, by its fetch metadata", { "sec-fetch-site": "same-site" }],
  ["another site with a form", { origin: "https://evil.example", "content-type": "application/x-www-form-urlencoded" }],
  ["another site with a form of text", { origin: "https://evil.example", "content-type": "text/plain" }],
];

describe.each(paths)("POST %s", (path) => {
  test.each(foreign)("from %s is refused, and changes nothing", async (_name, headers) => {
    const before = await shop.count();

    expect(await post(path, headers)).toBe(403);
    expect(await shop.count()).toEqual(before);
    expect(await shop.db.selectFrom("depots").select("name").where("is_open", "=", false).execute()).toHaveLength(1);
  });

  test("under a name that is not this machine's is refused: DNS rebinding", async () => {
    expect(await post(path, { origin: "http://evil.example:4000", "sec-fetch-site": "same-origin" }, "http://evil.example:4000")).toBe(403);
  });

  test("with GET is no such page", async () => {
    const before = await shop.count();

    expect((await shop.api.request(`http://localhost:4000${path}`)).status).toBe(404);
    expect(await shop.count()).toEqual(before);
  });
});

test("reading under another name is refused, too", async () => {
  for (const path of ["/", "/live", "/health", "/style.css"]) {
    expect((await shop.api.request(`http://evil.example${path}`)).status).toBe(403);
  }
});

test("the page's own origin, and a client that is no browser, may order", async () => {
  expect(await post("/orders", { origin: "http://localhost:4000", "sec-fetch-site": "same-origin" })).toBe(201);
  expect(await post("/orders", {}, "http://127.0.0.1:4000")).toBe(201);
  expect(await post("/orders", {}, "http://[::1]:4000")).toBe(201);
});
