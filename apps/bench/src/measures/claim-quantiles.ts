import { quantile } from "../quantile.js";
import type { ClaimTime } from "../runner/protocol.js";

/** Of full claims: those that brought at least half as many rows as the largest. */
export function claimQuantiles(claims: readonly ClaimTime[]): { readonly p50: number; readonly p99: number } {
  const most = claims.reduce((largest, { rows }) => Math.max(largest, rows), 1);
  const full = claims.filter(({ rows }) => rows * 2 >= most).map(({ ms }) => ms);
  return { p50: quantile(full, 0.5), p99: quantile(full, 0.99) };
}
