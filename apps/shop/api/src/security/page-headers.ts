import type { MiddlewareHandler } from "hono";
import { secureHeaders } from "hono/secure-headers";

/** Nothing from elsewhere, nothing inline, in nobody's frame: what slips through the escaping still does not run. */
export const pageHeaders: MiddlewareHandler = secureHeaders({
  contentSecurityPolicy: {
    defaultSrc: ["'none'"],
    styleSrc: ["'self'"],
    scriptSrc: ["'self'"],
    connectSrc: ["'self'"],
    imgSrc: ["'self'"],
    formAction: ["'self'"],
    baseUri: ["'none'"],
    frameAncestors: ["'none'"],
  },
  xFrameOptions: "DENY",
  // With "no-referrer", the middleware's default, browsers send `Origin: null` with the page's own forms, which then look foreign.
  referrerPolicy: "same-origin",
  // Plain http on the loopback: a browser that remembered https for localhost would break every other project there.
  strictTransportSecurity: false,
});
