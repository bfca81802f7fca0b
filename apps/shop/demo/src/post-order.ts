import { drawOrder, type PlacedOrder } from "@shop/api";

/** What became of an order: taken, or refused with the shop's reason. */
export type PostedOrder =
  | ({ readonly isPlaced: true; readonly customerId: number } & PlacedOrder)
  | { readonly isPlaced: false; readonly reason: string };

/** Orders something at the shop, over HTTP as any customer does. @throws when the shop answers neither yes nor "out of stock" */
export async function postOrder(url: string, random: () => number): Promise<PostedOrder> {
  const order = drawOrder(random);
  const response = await fetch(new URL("/orders", url), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(order),
  });
  if (response.status === 201) return { isPlaced: true, customerId: order.customerId, ...((await response.json()) as PlacedOrder) };
  if (response.status === 409) return { isPlaced: false, reason: ((await response.json()) as { message: string }).message };
  throw new Error(`The shop answered ${response.status}: ${await response.text()}`);
}
