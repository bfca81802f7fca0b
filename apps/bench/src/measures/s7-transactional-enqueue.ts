import { afresh, type Measure, onPostgres } from "./measure.js";

const connections = 32;
const warmUp = { connections, ms: 300, firstId: 1_000_000_000 };

export const s7TransactionalEnqueue: Measure = {
  id: "S7",
  title: "Transactional enqueue",
  detail:
    "begin, one enqueue, commit, on 32 connections of one process, while a worker in another process works off what comes. Raw SQL: a bare INSERT.",
  metrics: [{ key: "rate", name: "committed", unit: "transactions/s", better: "more" }],
  bars: [
    { metric: "rate", is: "at least", limit: 0.85, against: "raw SQL" },
    { metric: "rate", is: "at least", limit: 2, against: "best peer" },
  ],
  takes: onPostgres,
  prepare: afresh({ aim: "throughput", connections }, async ({ producer, startRunner }, { sizes: { floodMs } }) => {
    const worker = await startRunner({ connections: 10 });
    await worker.call("work", { record: false });
    await producer.call("flood", warmUp);
    const { transactions, ms } = await producer.call("flood", { connections, ms: floodMs, firstId: 0 });
    return { rate: (transactions / ms) * 1_000 };
  }),
};
