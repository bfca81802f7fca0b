export { fromMikroOrm, type MikroOrmTransaction } from "./from-mikro-orm.js";
export { type MikroOrmDatabase, mikroOrmDatabase } from "./mikro-orm-database.js";
