import { readFileSync } from "node:fs";
import { Hono } from "hono";

const files = [
  { path: "/style.css", type: "text/css; charset=utf-8" },
  { path: "/live.js", type: "text/javascript; charset=utf-8" },
  { path: "/icon.svg", type: "image/svg+xml" },
] as const;

/** The page's own style sheet, script and icon. */
export function publicFiles(): Hono {
  const app = new Hono();
  for (const { path, type } of files) {
    const text = readFileSync(new URL(`../public${path}`, import.meta.url), "utf8");
    app.get(path, (c) => c.body(text, 200, { "content-type": type, "cache-control": "no-cache" }));
  }
  return app;
}
