export interface SeedProduct {
  readonly id: number;
  readonly name: string;
  readonly priceCents: number;
  readonly stock: number;
}

/** Nearly sold out: after a few orders the next is refused. */
export const scarceProduct: SeedProduct = Object.freeze({ id: 8, name: "Hand lever espresso machine", priceCents: 64_900, stock: 3 });

/** What a coffee shop sells. Prices include tax. */
export const products: readonly SeedProduct[] = Object.freeze([
  { id: 1, name: "Yirgacheffe beans, 250 g", priceCents: 1_190, stock: 20_000 },
  { id: 2, name: "Huila decaf beans, 250 g", priceCents: 1_250, stock: 12_000 },
  { id: 3, name: "Paper filters, pack of 100", priceCents: 590, stock: 30_000 },
  { id: 4, name: "Porcelain dripper", priceCents: 2_450, stock: 8_000 },
  { id: 5, name: "Gooseneck kettle, 0.9 l", priceCents: 6_900, stock: 5_000 },
  { id: 6, name: "Burr hand grinder", priceCents: 8_900, stock: 5_000 },
  { id: 7, name: "Espresso cups, set of 4", priceCents: 3_200, stock: 9_000 },
  scarceProduct,
]);
