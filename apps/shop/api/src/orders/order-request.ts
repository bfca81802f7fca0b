import * as z from "zod";

const id = z.int().min(1).max(2_147_483_647);

/** An order as it comes in. A product that is named twice counts as one line. */
export const orderRequest = z.object({
  customerId: id,
  lines: z
    .array(z.object({ productId: id, quantity: z.int().min(1).max(100) }))
    .min(1)
    .max(20),
});

export type OrderRequest = z.output<typeof orderRequest>;
