import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

// Two folders with their own node_modules are named as arguments: everything is there twice.
const [schema, first, second] = process.argv.slice(2);
const load = (folder, name) => import(pathToFileURL(createRequire(join(folder, "from.js")).resolve(name)).href);
const copyIn = async (folder) => ({
  core: await load(folder, "@queue/core"),
  migrations: await load(folder, "@queue/core/migrations"),
  worker: await load(folder, "@queue/worker"),
  pg: await load(folder, "@queue/pg"),
  driver: (await load(folder, "pg")).default,
});
const one = await copyIn(first);
const other = await copyIn(second);
const connectionString = process.env.DATABASE_URL;
const demand = (isSo, sentence) => {
  if (!isSo) throw new Error(`It does not hold that ${sentence}.`);
};

demand(one.core.QueueError !== other.core.QueueError, "there are two copies");

// Errors: the documented checks.
const { PermanentError, RetryAfterError } = one.core;
const thrown = await one.core
  .createQueue({ jobs: {} })
  .enqueue({}, "nothing", null)
  .catch((error) => error);
demand(other.core.QueueError.is(thrown), "QueueError.is of one copy knows an error of the other");
demand(other.core.QueueError.is(thrown, thrown.code), "QueueError.is of one copy tells the code of an error of the other");
demand(new PermanentError("x") instanceof other.core.PermanentError, "instanceof PermanentError holds across copies");
demand(new RetryAfterError("1m") instanceof other.core.RetryAfterError, "instanceof RetryAfterError holds across copies");

// One copy's driver, executor, listener, queue and errors in a worker of the other.
const pool = new one.driver.Pool({ connectionString, max: 12 });
const queue = one.core.createQueue({
  schema,
  jobs: { "order.ship": one.core.job(), "order.fail": one.core.job(), "order.wait": one.core.job() },
});
await other.migrations.migrate(one.pg.pgDatabase(pool), queue);
const client = await pool.connect();
await client.query("begin");
const ours = other.core.createQueue({ schema, jobs: { "order.ship": other.core.job() } });
await ours.enqueue(one.pg.fromPg(client), "order.ship", { orderId: "1" });
await queue.enqueue(other.pg.fromPg(client), "order.fail", { orderId: "1" });
await queue.enqueue(other.pg.fromPg(client), "order.wait", { orderId: "1" });
await client.query("commit");
client.release();
const worker = other.worker.createWorker({
  queue,
  db: one.pg.pgDatabase(pool),
  // A job that dies on purpose is none to warn of.
  logger: { debug() {}, info() {}, warn() {}, error: ({ kind }, message) => kind === "order.fail" || console.error(message) },
  listener: one.pg.pgListener({ connectionString }),
  handlers: {
    "order.ship": { transactional: true, run: async (_job, { trx }) => void (await trx.query("select 1")) },
    "order.fail": async () => {
      throw new one.core.PermanentError("never");
    },
    "order.wait": async () => one.worker.snooze("1h"),
  },
});
await worker.runUntilIdle();
const statusOf = async (kind) => (await queue.admin(one.pg.pgDatabase(pool)).jobs({ kind })).items[0];

demand((await statusOf("order.ship"))?.status === "done", "a worker of one copy works a queue of the other");
const failed = await statusOf("order.fail");
demand(failed?.status === "dead" && failed.attempts === 1, "a PermanentError of one copy ends a job in a worker of the other");
const waiting = await statusOf("order.wait");
demand(
  waiting !== undefined && waiting.status !== "dead" && waiting.attempts === 0,
  "a snooze of one copy is one in a worker of the other",
);
await pool.end();
console.log("worked");
