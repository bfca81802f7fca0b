export type OrderRefusal = "out-of-stock" | "unknown-product" | "unknown-customer";

/** The shop cannot take this order. It is thrown inside the transaction, which takes everything back. */
export class OrderRefusedError extends Error {
  readonly refusal: OrderRefusal;

  constructor(refusal: OrderRefusal, message: string) {
    super(message);
    this.name = "OrderRefusedError";
    this.refusal = refusal;
  }
}
