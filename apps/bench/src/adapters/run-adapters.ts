import { createQueue, job } from "@queue/core";
import type { ExecutableQuery } from "@queue/core/adapter";
import { migrate } from "@queue/core/migrations";
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import type { BenchServer } from "../machine/bench-server.js";
import { median } from "../quantile.js";
import { showFigure } from "../report/show-figure.js";
import type { BenchJob } from "../runner/system.js";
import type { AdapterSession, AdapterTransaction } from "./adapter-side.js";
import { adapters, baseline } from "./all-adapters.js";

/** Enqueues of one transaction, and how many transactions each library gets its turn for. */
export const adapterSizes = { enqueues: 500, rounds: 40 } as const;
export const quickAdapterSizes = { enqueues: 200, rounds: 7 } as const;

/** An adapter may cost a tenth more than Kysely. */
const bar = 1.1;

export interface AdapterReading {
  readonly name: string;
  /** Of `queue.enqueue` through the adapter: the middle one of the rounds, each of which is a mean over its enqueues. */
  readonly microseconds: number;
  readonly least: number;
  readonly most: number;
  /** Of this process; the server's is not in it. */
  readonly processorMicroseconds: number;
  /** Of the same INSERT, run with the library alone. */
  readonly ownMicroseconds: number;
  /** To `queue.enqueue` through Kysely. */
  readonly ratio: number;
}

interface Open {
  readonly name: string;
  readonly session: AdapterSession;
  readonly enqueues: Cost[];
  readonly own: Cost[];
}

interface Cost {
  readonly microseconds: number;
  readonly processorMicroseconds: number;
}

const queue = createQueue({ jobs: { noop: job<BenchJob>() } });

/**
 * What `queue.enqueue` costs through each adapter: one after the other in an open transaction, on one connection. The libraries
 * take turns, round by round, each time beginning with another one. Their own begin and commit are not counted.
 */
export async function runAdapters(
  server: BenchServer,
  { enqueues, rounds }: { readonly enqueues: number; readonly rounds: number },
  progress: (line: string) => void,
): Promise<readonly AdapterReading[]> {
  const database = await server.createDatabase("adapters");
  const admin = new pg.Pool({ connectionString: database.url });
  const open: Open[] = [];
  try {
    await migrate(new Kysely<unknown>({ dialect: new PostgresDialect({ pool: admin }) }), queue);
    for (const { name, open: connect } of [baseline, ...adapters]) {
      open.push({ name, session: await connect(database.url), enqueues: [], own: [] });
    }
    for (let round = -1; round < rounds; round += 1) {
      for (let turn = 0; turn < open.length; turn += 1) {
        const side = open[(round + 1 + turn) % open.length];
        if (side === undefined) continue;
        progress(`${Math.max(1, round + 1)} of ${rounds}: ${side.name}`);
        const enqueued = await timed(
          side.session,
          enqueues,
          ({ target }) =>
            (id) =>
              queue.enqueue(target, "noop", { id, hello: "world" }),
        );
        const own = await timed(
          side.session,
          enqueues,
          ({ run }) =>
            (id) =>
              run(plainInsert(id)),
        );
        await admin.query("truncate queue.jobs");
        // The first one warms up.
        if (round < 0) continue;
        side.enqueues.push(enqueued);
        side.own.push(own);
      }
    }
    return readings(open);
  } finally {
    await Promise.all(open.map(({ session }) => session.close()));
    await admin.end();
    await database.drop();
  }
}

async function timed(
  session: AdapterSession,
  times: number,
  prepare: (transaction: AdapterTransaction) => (id: number) => PromiseLike<unknown>,
): Promise<Cost> {
  let cost: Cost = { microseconds: Number.NaN, processorMicroseconds: Number.NaN };
  await session.transaction(async (transaction) => {
    const once = prepare(transaction);
    const processor = process.cpuUsage();
    const startedAtMs = performance.now();
    for (let id = 0; id < times; id += 1) await once(id);
    const microseconds = ((performance.now() - startedAtMs) * 1_000) / times;
    const { user, system } = process.cpuUsage(processor);
    cost = { microseconds, processorMicroseconds: (user + system) / times };
  });
  return cost;
}

function plainInsert(id: number): ExecutableQuery {
  return {
    sql: `insert into queue.jobs (kind, payload, lane, priority, max_attempts, run_at)
          values ($1::text, $2::text::jsonb, $3::text, $4::int2, $5::int4, greatest(clock_timestamp(), coalesce($6::text::timestamptz, clock_timestamp())))
          returning id::text as id`,
    parameters: ["noop", JSON.stringify({ id, hello: "world" }), "default", "5", "8", null],
  };
}

function readings(open: readonly Open[]): readonly AdapterReading[] {
  const middle = (costs: readonly Cost[]) => median(costs.map(({ microseconds }) => microseconds));
  const base = middle(open.find(({ name }) => name === baseline.name)?.enqueues ?? []);
  return open.map(({ name, enqueues, own }) => ({
    name,
    microseconds: middle(enqueues),
    least: Math.min(...enqueues.map(({ microseconds }) => microseconds)),
    most: Math.max(...enqueues.map(({ microseconds }) => microseconds)),
    processorMicroseconds: median(enqueues.map(({ processorMicroseconds }) => processorMicroseconds)),
    ownMicroseconds: middle(own),
    ratio: middle(enqueues) / base,
  }));
}

/** A table, with what is over the bar named. */
export function adapterReport(results: readonly AdapterReading[]): readonly string[] {
  const cells = (row: readonly string[]) =>
    `    ${row.map((cell, column) => (column === 0 ? cell.padEnd(16) : cell.padStart(22))).join("")}`;
  return [
    "Adapters: queue.enqueue in an open transaction, one after the other, on one connection",
    cells(["", "µs an enqueue", "least … most", "µs of this process", "library's own INSERT", "to Kysely's enqueue"]),
    ...results.map(({ name, microseconds, least, most, processorMicroseconds, ownMicroseconds, ratio }) =>
      cells([
        name,
        showFigure(microseconds),
        `${showFigure(least)} … ${showFigure(most)}`,
        showFigure(processorMicroseconds),
        showFigure(ownMicroseconds),
        `${ratio.toFixed(2)} ×${ratio > bar ? ", missed" : ""}`,
      ]),
    ),
    `    bar: at most ${bar} × Kysely`,
  ];
}
