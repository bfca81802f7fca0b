import { expect, test } from "vitest";
import { sqlStateOf } from "./sql-state.js";

test.each<[library: string, error: unknown, state: string | undefined]>([
  ["pg, postgres.js and knex", Object.assign(new Error("x"), { code: "23505" }), "23505"],
  ["drizzle", new Error("x", { cause: { code: "40001" } }), "40001"],
  ["sequelize", { original: { code: "42P01" } }, "42P01"],
  ["Prisma", { code: "P2010", meta: { driverAdapterError: { cause: { code: "3F000" } } } }, "3F000"],
  ["Prisma, where it has a name for it", { code: "P2002", meta: { driverAdapterError: { cause: { originalCode: "23505" } } } }, "23505"],
  ["Prisma, when a commit fails", new Error("x", { cause: { originalCode: "23505" } }), "23505"],
  ["a connection that was lost", { code: "ECONNRESET" }, undefined],
  ["an error of the network with a state below", { code: "EPIPE", cause: { code: "57P01" } }, "57P01"],
  ["Prisma, of an error without a state", { code: "P2024" }, undefined],
  ["a function that raises, as PostgreSQL does by itself", { code: "P0001" }, "P0001"],
  ["a function that raises a state of its own", { code: "QU000" }, "QU000"],
  ["a number", { code: 23505 }, undefined],
  ["nothing", undefined, undefined],
  ["a text", "23505", undefined],
])("the SQLSTATE is found where %s puts it", (_library, error, state) => {
  expect(sqlStateOf(error)).toBe(state);
});
