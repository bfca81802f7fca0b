import type { Executor } from "@queue/core";
import type { AdapterDatabase } from "@queue/core/adapter";
import { createWorkerStatements, type Requeue, type Statement } from "@queue/core/internal";

type Rows = Record<string, unknown>[];
type Input = Readonly<Record<string, string | null>>;

/** Runs statements by themselves on the connection that the given one would have gone to. */
type Run = (sql: string, parameters: readonly (string | null)[]) => Promise<Rows>;

/** One statement of TypeScript, done by functions: the same rows for the same input. */
type ByFunction = (run: Run, schema: string, input: Input) => Promise<Rows>;

const micros = (column: string) => `(extract(epoch from ${column}) * 1000000)::int8::text`;

const items = `(select coalesce(jsonb_agg(jsonb_build_object('kind', r -> 'kind', 'payload', r -> 'payload', 'options',
  jsonb_build_object('lane', r -> 'lane', 'priority', r -> 'priority', 'maxAttempts', r -> 'max_attempts',
    'delay', case when r ->> 'run_at' is null then r -> 'delay_ms' end, 'runAt', r -> 'run_at', 'key', r -> 'key',
    'keyHolds', case r ->> 'release_on' when 'started' then '"until-started"' when 'ended' then '"until-ended"' else r -> 'hold_ms' end))
  order by o), '[]') from jsonb_array_elements($1::text::jsonb) with ordinality as x(r, o))`;

const enqueue: ByFunction = (run, s, { rows = "" }) =>
  run(`select e.id::text as id, e.inserted, false as contested from ${s}.enqueue_many(${items}) e order by e.item`, [rows]);

const complete: ByFunction = (run, s, { ids = "", fences = "", keeps = "", worker = "" }) =>
  run(
    `select u.id::text as id from unnest($1::text::bigint[], $2::text::int[], $3::text::bigint[]) as u(id, fence, keep)
      cross join lateral ${s}.complete($4::text, u.id, u.fence, case when u.keep >= 0 then u.keep * interval '1 millisecond' end) as c(ok) where c.ok`,
    [ids, fences, keeps, worker],
  );

async function claimRows(run: Run, s: string, { groups, kinds = "", limit, worker = "", leaseMs = "" }: Input, completed: string | null) {
  const [head] = await run(
    `select null as id, ${micros("now()")} as now, (select json_agg(lane)::text from ${s}.lanes where paused_at is not null) as paused, $1::text as completed`,
    [completed],
  );
  const claimed: Rows = [];
  for (const { take, lines } of JSON.parse(groups ?? "[]") as { take: number; lines: { lane: string }[] }[]) {
    const wanted = Math.min(take, Number(limit) - claimed.length);
    if (wanted < 1) continue;
    const rows = await run(
      `select id::text as id, kind, lane, priority, payload::text as payload, attempt as attempts, max_attempts, fence as claims,
              key as idempotency_key, ${micros("created_at")} as created_at, ${micros("run_at")} as run_at
         from ${s}.claim(array(select jsonb_array_elements_text($1::text::jsonb)), $2::text::text[], $3::int, $4::text, $5::text::int8 * interval '1 millisecond')`,
      [JSON.stringify([...new Set(lines.map(({ lane }) => lane))]), kinds, String(wanted), worker, leaseMs],
    );
    claimed.push(...rows);
  }
  return [head ?? {}, ...claimed];
}

const requeue: ByFunction = async (run, s, { jobs, worker = "" }) => {
  const back: Rows = [];
  for (const [id, { fence, status, delayMs, attemptsBack, error }] of Object.entries(JSON.parse(jobs ?? "{}") as Record<string, Requeue>)) {
    const delay = delayMs === undefined ? null : String(delayMs);
    const call =
      error !== undefined
        ? run(
            `select 1 as ok where ${s}.fail($1::text, $2::text::int8, $3::int, $4::text, error_name => $5::text, stack => $6::text,
               permanent => $7::text::bool, retry_after => $8::text::float8 * interval '1 millisecond') is not null`,
            [worker, id, String(fence), error.message, error.name, error.stack ?? null, String(status === "dead"), delay],
          )
        : delay !== null
          ? run(`select 1 as ok where ${s}.snooze($1::text, $2::text::int8, $3::int, $4::text::float8 * interval '1 millisecond')`, [
              worker,
              id,
              String(fence),
              delay,
            ])
          : run(`select 1 as ok where ${s}.release($1::text, $2::text::int8, $3::int, started => $4::text::bool)`, [
              worker,
              id,
              String(fence),
              String(attemptsBack === 0),
            ]);
    if ((await call).length > 0) back.push({ id });
  }
  return back;
};

const byFunction: Readonly<Record<string, ByFunction>> = {
  enqueue,
  completeJobs: complete,
  completeOwnJobs: complete,
  claimJobs: (run, s, input) => claimRows(run, s, input, null),
  completeAndClaim: async (run, s, input) => {
    const ids = (await complete(run, s, input)).map(({ id }) => id);
    return claimRows(run, s, input, ids.length > 0 ? ids.join(",") : null);
  },
  requeueJobs: requeue,
  requeueOwnJobs: requeue,
  extendLeases: (run, s, { ids = "", fences = "", worker = "", leaseMs = "" }) =>
    run(
      `select id::text as id, extended, held
         from ${s}.heartbeat($1::text, $2::text::bigint[], $3::text::int[], $4::text::int8 * interval '1 millisecond')`,
      [worker, ids, fences, leaseMs],
    ),
  returnExpiredJobs: async (run, s, { limit = "", except = "" }) =>
    limit === "0"
      ? []
      : run(`select id::text as id, kind, lane, status, attempt as attempts, worker from ${s}.sweep($1::int, $2::text::bigint[])`, [
          limit,
          except,
        ]),
  registerWorker: (run, s, { worker = "", kinds = "", lanes = null, host = "", pid = "", expiresInMs = "" }) =>
    run(
      `select $1::text as id where ${s}.register_worker($1::text, $2::text::text[], $3::text::text[], $4::text, $5::int, $6::text::int8 * interval '1 millisecond')`,
      [worker, kinds, lanes, host, pid, expiresInMs],
    ),
  forgetWorker: (run, s, { worker = "" }) => run(`select $1::text as id where ${s}.unregister_worker($1::text)`, [worker]),
};

/** The names of the statements that are done by functions. */
export const statementsWithFunctions: readonly string[] = Object.keys(byFunction);

/** What sends functions instead of statements, and what it was asked for. */
export function sendFunctions() {
  const done = new Set<string>();

  function byFunctions(executor: Executor): Executor {
    return {
      ...executor,
      async execute<R>({ sql, parameters }: { readonly sql: string; readonly parameters: readonly unknown[] }) {
        // Workers would call the functions that keep plans: they find none, and send their statements.
        if (sql.includes("pg_catalog.pg_proc")) return { rows: [] };
        const known = recognise(sql);
        if (known === undefined) return executor.execute<R>({ sql, parameters });
        done.add(known.name);
        const run: Run = async (text, values) => (await executor.execute<Record<string, unknown>>({ sql: text, parameters: values })).rows;
        const input = Object.fromEntries(known.inputs.map((name, index) => [name, parameters[index] as string | null]));
        return { rows: (await known.run(run, known.schema, input)) as R[] };
      },
    };
  }

  return {
    done,
    byFunctions,
    database: <TTrx>(database: AdapterDatabase<TTrx>): AdapterDatabase<TTrx> => ({
      ...database,
      ...byFunctions(database),
      transaction: (body) => database.transaction((trx, executor) => body(trx, byFunctions(executor))),
    }),
  };
}

interface Recognised {
  readonly name: string;
  /** Quoted. */
  readonly schema: string;
  readonly inputs: readonly string[];
  readonly run: ByFunction;
}

/** Which statement a text is; undefined: one that has no function. */
function recognise(sql: string): Recognised | undefined {
  const schema = /"(?:[^"]|"")+"(?=\."(?:jobs|workers)")/.exec(sql)?.[0];
  if (schema === undefined) return undefined;
  if (/^with "input" as materialized .*insert into "(?:[^"]|"")+"\."jobs"/s.test(sql))
    return { name: "enqueue", schema, inputs: ["rows"], run: enqueue };
  const statements: Readonly<Record<string, Statement<never, unknown>>> = createWorkerStatements(schema.slice(1, -1).replaceAll('""', '"'));
  for (const [name, statement] of Object.entries(statements)) {
    const run = byFunction[name];
    if (run !== undefined && statement.sql === sql) {
      return { name, schema, inputs: statement.bind(new Proxy({}, { get: (_, input) => input }) as never).map(String), run };
    }
  }
  return undefined;
}
