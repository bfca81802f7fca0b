import type { Kysely } from "kysely";
import { PermanentError, RetryAfterError } from "@queue/core";
import type { Handler } from "@queue/worker";
import type { Database } from "@shop/database";
import type { ShopQueue } from "@shop/jobs";
import { MailError, type MailProvider } from "../providers/mail-provider.js";
import { writeReceipt } from "./write-receipt.js";

/**
 * Mails the receipt of an order. The attempt before may have sent it and not have heard the answer, so the provider gets a
 * key that is the same for every attempt of the job, and sends once.
 */
export function sendReceipt(db: Kysely<Database>, mail: MailProvider): Handler<ShopQueue, "order.send-receipt"> {
  return async ({ payload }, { idempotencyKey, signal }) => {
    const receipt = await writeReceipt(db, payload.orderId);
    try {
      await mail.send({ to: payload.email, reference: payload.orderId, ...receipt, idempotencyKey }, { signal });
    } catch (error) {
      throw error instanceof MailError ? asJobFailure(error) : error;
    }
  };
}

/** What a failure means for the job: never again, again at a time the provider named, or again with back-off. */
function asJobFailure(error: MailError): Error {
  if (error.failure === "no-such-mailbox") return new PermanentError(error.message, { cause: error });
  if (error.retryAfterMs !== undefined) return new RetryAfterError(error.retryAfterMs, { message: error.message, cause: error });
  return error;
}
