export interface TextMessage {
  readonly phone: string;
  readonly text: string;
  /** Printed on the provider's invoice. */
  readonly reference: string;
}

/** The provider of text messages, who knows no idempotency keys and charges for each message. */
export interface TextMessageProvider {
  send(message: TextMessage, options: { readonly signal: AbortSignal }): Promise<void>;
}
