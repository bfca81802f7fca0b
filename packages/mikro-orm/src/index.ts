export { fromMikroOrm, type MikroOrmEntityManager } from "./from-mikro-orm.js";
export { mikroOrmDatabase, type MikroOrmLike } from "./mikro-orm-database.js";
