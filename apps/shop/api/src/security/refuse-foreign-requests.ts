import type { MiddlewareHandler } from "hono";

const loopbackNames: ReadonlySet<string> = new Set(["127.0.0.1", "localhost", "[::1]"]);
const readingMethods: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/**
 * The server listens on the loopback interface only, and still any page in the browser of the same machine can send requests to
 * it. Two of its ways are closed here, with 403 and before anything is read:
 *
 * - a name of its own that points to 127.0.0.1 (DNS rebinding) makes it same-origin, so other names than the loopback's are
 *   refused, for reading too;
 * - a form or a `fetch` without preflight writes without reading the answer, so writing needs the page's own origin. Browsers
 *   send `Origin` with each of them, and newer ones `Sec-Fetch-Site`; a client that sends neither is no browser.
 */
export const refuseForeignRequests: MiddlewareHandler = async (c, next) => {
  const url = new URL(c.req.url);
  if (!loopbackNames.has(url.hostname)) return c.text("This server answers to localhost and 127.0.0.1 only.", 403);
  if (!readingMethods.has(c.req.method) && !isOwn(c.req.header("sec-fetch-site"), c.req.header("origin"), url.host)) {
    return c.text("This request comes from another site.", 403);
  }
  return next();
};

function isOwn(fetchSite: string | undefined, origin: string | undefined, host: string): boolean {
  // "same-site" is not enough: every port of localhost is the same site.
  if (fetchSite !== undefined && fetchSite !== "same-origin" && fetchSite !== "none") return false;
  return origin === undefined || origin === `http://${host}`;
}
