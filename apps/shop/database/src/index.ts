/** `@shop/database`: tables, seed data, and the connection. */
export { createShopSchema } from "./create-shop-schema.js";
export { formatEuros } from "./format-euros.js";
export { openShopDatabase, type OpenShopDatabase, type OpenShopDatabaseOptions } from "./open-shop-database.js";
export type {
  CustomerTable,
  Database,
  DepotTable,
  MailRequestTable,
  MailTable,
  OrderLineTable,
  OrderStatus,
  OrderTable,
  ProductTable,
  ShopDatabase,
  TextMessageTable,
} from "./shop-database.js";
export { customers, type SeedCustomer, troubledCustomer } from "./seed/customers.js";
export { closedDepot, depots, type SeedDepot } from "./seed/depots.js";
export { fractionOf, seededRandom } from "./seed/seeded-random.js";
export { products, scarceProduct, type SeedProduct } from "./seed/products.js";
