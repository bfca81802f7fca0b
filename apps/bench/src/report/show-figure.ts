/** A figure as people read it: three digits, and thousands apart. */
export function showFigure(value: number): string {
  if (Number.isNaN(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 100) return Math.round(value).toLocaleString("en-US");
  return size >= 10 ? value.toFixed(1) : value.toFixed(2);
}
