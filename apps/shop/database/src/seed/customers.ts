import { closedDepot } from "./depots.js";

export interface SeedCustomer {
  readonly id: number;
  readonly name: string;
  readonly email: string;
  readonly phone: string;
  readonly depot: string;
}

/**
 * Her depot is snowed in and her mailbox is closed: `notify-warehouse` uses up its attempts, and `send-receipt` cannot succeed
 * at all. So each of her orders leaves two dead letters.
 */
export const troubledCustomer: SeedCustomer = Object.freeze({
  id: 8,
  name: "Ingrid Solheim",
  email: "ingrid@solheim-expeditions.invalid",
  phone: "+44 7700 900178",
  depot: closedDepot,
});

/** Mail domains and telephone numbers that are reserved for examples. */
export const customers: readonly SeedCustomer[] = Object.freeze([
  { id: 1, name: "Amara Okafor", email: "amara.okafor@example.com", phone: "+44 7700 900171", depot: "Leeds" },
  { id: 2, name: "Benoît Lefèvre", email: "benoit.lefevre@example.com", phone: "+44 7700 900172", depot: "Lyon" },
  { id: 3, name: "Chiara D’Angelo", email: "chiara.dangelo@example.com", phone: "+44 7700 900173", depot: "Lyon" },
  { id: 4, name: "Daan de Vries", email: "daan.devries@example.com", phone: "+44 7700 900174", depot: "Rotterdam" },
  { id: 5, name: "Eun-ji Park", email: "eunji.park@example.com", phone: "+44 7700 900175", depot: "Rotterdam" },
  { id: 6, name: "Fergus O’Neill", email: "fergus.oneill@example.com", phone: "+44 7700 900176", depot: "Leeds" },
  { id: 7, name: "Greta Lindqvist", email: "greta.lindqvist@example.com", phone: "+44 7700 900177", depot: "Rotterdam" },
  troubledCustomer,
]);
