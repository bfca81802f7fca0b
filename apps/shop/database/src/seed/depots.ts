export interface SeedDepot {
  readonly name: string;
  readonly isOpen: boolean;
}

/** Snowed in. What is to be shipped from here fails until somebody opens it, and then waits among the dead letters. */
export const closedDepot = "Longyearbyen";

export const depots: readonly SeedDepot[] = Object.freeze([
  { name: "Leeds", isOpen: true },
  { name: "Lyon", isOpen: true },
  { name: "Rotterdam", isOpen: true },
  { name: closedDepot, isOpen: false },
]);
