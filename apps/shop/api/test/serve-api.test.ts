import { once } from "node:events";
import { Agent, get, type IncomingMessage } from "node:http";
import { Hono } from "hono";
import { expect, test } from "vitest";
import { refuseForeignRequests } from "../src/security/refuse-foreign-requests.js";
import { serveApi } from "../src/serve-api.js";

async function statusOf(url: string, headers: Record<string, string>, agent?: Agent): Promise<number | undefined> {
  const request = get(url, { headers, agent });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  response.resume();
  await once(response, "end");
  return response.statusCode;
}

test("it listens on the loopback interface, and answers to its names only", async () => {
  const api = await serveApi(new Hono().use(refuseForeignRequests).get("/", (c) => c.text("hello")));
  try {
    expect(api.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
    expect(await statusOf(api.url, {})).toBe(200);
    expect(await statusOf(api.url, { host: "evil.example" })).toBe(403);
    expect(await statusOf(api.url, { host: "localhost.evil.example" })).toBe(403);
  } finally {
    await api.close();
  }
});

test("closing answers what has come in, and waits for no connection that is only kept open", async () => {
  let answer = () => {};
  const entered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  let finish = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const app = new Hono()
    .get("/", (c) => c.text("hello"))
    .get("/slow", async (c) => {
      answer();
      await finished;
      return c.text("done");
    });
  const api = await serveApi(app, { graceMs: 60_000 });
  const agent = new Agent({ keepAlive: true });
  expect(await statusOf(api.url, {}, agent)).toBe(200);
  const slow = statusOf(`${api.url}slow`, {}, agent);
  await entered;

  const closed = api.close();
  finish();

  expect(await slow).toBe(200);
  await closed;
  await api.close();
  agent.destroy();
});

test("a port that is taken is an error, not a silence", async () => {
  const api = await serveApi(new Hono());
  try {
    await expect(serveApi(new Hono(), { port: Number(new URL(api.url).port) })).rejects.toMatchObject({ code: "EADDRINUSE" });
  } finally {
    await api.close();
  }
});
