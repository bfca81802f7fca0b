import type { Recording } from "../sample.js";
import { tooShort, type Verdict, verdict } from "./verdict.js";

/** Whether the queue has exactly what the business transactions say they enqueued. */
export function judgeAccount({ account }: Recording): Verdict {
  const name = "every job is accounted for";
  if (account === undefined) return tooShort(name, "the run has not ended");
  const { enqueued, found } = account;
  return verdict(name, enqueued > 0 && found === enqueued, `${enqueued} enqueued, ${found} found`);
}
