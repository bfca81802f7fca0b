import { fractionOf } from "@shop/database";
import type { MailFailure } from "./mail-provider.js";

export type MailWeather = Exclude<MailFailure, "no-such-mailbox"> | "fair";

/** After so many requests for one mail the weather is always fair, so that bad luck alone makes no dead letter. */
const longestStorm = 2;

/**
 * How a request for a mail ends: by chance, and yet the same for the same seed, key and request. Of the first requests 15 %
 * meet a provider that is down, 8 % get no answer although the mail is sent, and 7 % come too fast.
 */
export function mailWeather(seed: string, idempotencyKey: string, request: number): MailWeather {
  if (request > longestStorm) return "fair";
  const fraction = fractionOf(`${seed} ${idempotencyKey} ${request}`);
  if (fraction < 0.15) return "unavailable";
  if (fraction < 0.23) return "no-answer";
  if (fraction < 0.3) return "rate-limited";
  return "fair";
}
