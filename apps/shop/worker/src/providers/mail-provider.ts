/** One mail, as the provider's API takes it. */
export interface Mail {
  readonly to: string;
  /** Printed on the provider's invoice. */
  readonly reference: string;
  readonly subject: string;
  readonly text: string;
  /** The provider sends once per key, however often it is asked. */
  readonly idempotencyKey: string;
}

/** The provider of mails. */
export interface MailProvider {
  /** Resolves when the provider has taken the mail, or had taken it before. @throws MailError */
  send(mail: Mail, options: { readonly signal: AbortSignal }): Promise<void>;
}

/**
 * Why the provider did not answer with a yes. After `"no-answer"` nobody knows whether the mail was sent: that is what the
 * idempotency key is for.
 */
export type MailFailure = "unavailable" | "no-answer" | "rate-limited" | "no-such-mailbox";

export class MailError extends Error {
  readonly failure: MailFailure;
  /** For `"rate-limited"`: when to come back. */
  readonly retryAfterMs: number | undefined;

  constructor(failure: MailFailure, message: string, retryAfterMs?: number) {
    super(message);
    this.name = "MailError";
    this.failure = failure;
    this.retryAfterMs = retryAfterMs;
  }
}
