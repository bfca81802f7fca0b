import { EntitySchema } from "@mikro-orm/core";
import { MikroORM } from "@mikro-orm/postgresql";
import { PrismaPg } from "@prisma/adapter-pg";
import type { ExecutableQuery } from "@queue/core/adapter";
import { fromDrizzle } from "@queue/drizzle";
import { fromKnex } from "@queue/knex";
import { fromMikroOrm } from "@queue/mikro-orm";
import { fromPg } from "@queue/pg";
import { fromPostgresJs } from "@queue/postgres-js";
import { fromPrisma } from "@queue/prisma";
import { fromTypeorm } from "@queue/typeorm";
import { type SQL, sql as drizzleSql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import knex from "knex";
import { CompiledQuery, Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import postgres from "postgres";
import { DataSource } from "typeorm";
import type { AdapterSide } from "./adapter-side.js";
import { generatePrismaClient } from "./prisma-client.js";

const numbered = /\$(\d+)/g;

/** For libraries whose placeholders have no number. */
function valuesInOrder({ sql, parameters }: ExecutableQuery): readonly unknown[] {
  return Array.from(sql.matchAll(numbered), ([, number]) => parameters[Number(number) - 1]);
}

function drizzleStatement({ sql, parameters }: ExecutableQuery): SQL {
  const [head = "", ...pieces] = sql.split(/\$\d+/);
  const values = valuesInOrder({ sql, parameters });
  return drizzleSql.join([
    drizzleSql.raw(head),
    ...pieces.flatMap((piece, index) => [drizzleSql`${values[index]}`, drizzleSql.raw(piece)]),
  ]);
}

/** What the others are compared with. */
export const baseline: AdapterSide = {
  name: "Kysely",
  async open(url) {
    const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url }) }) });
    return {
      transaction: (body) =>
        db
          .transaction()
          .execute((trx) => body({ target: trx, run: ({ sql, parameters }) => trx.executeQuery(CompiledQuery.raw(sql, [...parameters])) })),
      close: () => db.destroy(),
    };
  },
};

export const adapters: readonly AdapterSide[] = [
  {
    name: "node-postgres",
    async open(url) {
      const pool = new pg.Pool({ connectionString: url });
      return {
        async transaction(body) {
          const client = await pool.connect();
          try {
            await client.query("begin");
            await body({ target: fromPg(client), run: ({ sql, parameters }) => client.query(sql, [...parameters]) });
            await client.query("commit");
          } finally {
            client.release();
          }
        },
        close: () => pool.end(),
      };
    },
  },
  {
    name: "postgres.js",
    async open(url) {
      const sql = postgres(url, { onnotice: () => {} });
      return {
        transaction: (body) =>
          sql.begin((trx) =>
            body({ target: fromPostgresJs(trx), run: ({ sql: text, parameters }) => trx.unsafe(text, parameters as string[]) }),
          ),
        close: () => sql.end(),
      };
    },
  },
  {
    name: "Drizzle",
    async open(url) {
      const pool = new pg.Pool({ connectionString: url });
      const db = drizzle(pool);
      return {
        transaction: (body) =>
          db.transaction((tx) => body({ target: fromDrizzle(tx), run: (query) => tx.execute(drizzleStatement(query)) })),
        close: () => pool.end(),
      };
    },
  },
  {
    name: "Knex",
    async open(url) {
      const db = knex({ client: "pg", connection: url });
      return {
        transaction: (body) =>
          db.transaction((trx) =>
            body({
              target: fromKnex(trx),
              run: ({ sql, parameters }) => trx.raw(sql.replaceAll(numbered, "?"), valuesInOrder({ sql, parameters }) as string[]),
            }),
          ),
        close: () => db.destroy(),
      };
    },
  },
  {
    name: "Prisma",
    async open(url) {
      const { PrismaClient, remove } = await generatePrismaClient();
      const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: url }) });
      return {
        transaction: (body) =>
          prisma.$transaction(
            (tx) => body({ target: fromPrisma(tx), run: ({ sql, parameters }) => tx.$queryRawUnsafe(sql, ...parameters) }),
            { timeout: 60_000 },
          ),
        async close() {
          await prisma.$disconnect();
          await remove();
        },
      };
    },
  },
  {
    name: "TypeORM",
    async open(url) {
      const dataSource = await new DataSource({ type: "postgres", url }).initialize();
      return {
        transaction: (body) =>
          dataSource.transaction((entityManager) =>
            body({
              target: fromTypeorm(entityManager),
              run: ({ sql, parameters }) => entityManager.query(sql, [...parameters]),
            }),
          ),
        close: () => dataSource.destroy(),
      };
    },
  },
  {
    name: "MikroORM",
    async open(url) {
      // It wants at least one entity.
      const order = new EntitySchema<{ id: string }>({ name: "Order", properties: { id: { type: "string", primary: true } } });
      const orm = await MikroORM.init({ clientUrl: url, entities: [order] });
      return {
        transaction: (body) =>
          orm.em.fork().transactional((em) =>
            body({
              target: fromMikroOrm(em),
              run: ({ sql, parameters }) => em.execute(sql.replaceAll(numbered, "?"), valuesInOrder({ sql, parameters }) as string[]),
            }),
          ),
        close: () => orm.close(),
      };
    },
  },
];
