/** `123450` cents as `€1,234.50`. */
export function formatEuros(cents: number): string {
  return new Intl.NumberFormat("en-IE", { style: "currency", currency: "EUR" }).format(cents / 100);
}
