import { register } from "node:module";

// `node --import …/kysely-029.js`: everything in the process gets the other supported version of kysely.
register("./kysely-029-hooks.js", import.meta.url);
