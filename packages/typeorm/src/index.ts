export { fromTypeorm } from "./from-typeorm.js";
export { typeormDatabase } from "./typeorm-database.js";
