export { fromKnex, type KnexTransaction } from "./from-knex.js";
export { knexDatabase } from "./knex-database.js";
