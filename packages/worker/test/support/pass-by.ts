import type { Workers } from "./use-workers.js";

/** New jobs go all the way, one after the other, for so long: the worker has read its line far beyond what is older. */
export async function passBy(workers: Workers, enqueue: () => Promise<{ readonly id: string }>, ms: number): Promise<void> {
  const [{ until: end } = { until: new Date() }] = await workers.sql<{ until: Date }>(
    "select clock_timestamp() + $1 * interval '1 millisecond' as until",
    [ms],
  );
  const isOver = async () =>
    (await workers.sql<{ is_over: boolean }>("select clock_timestamp() > $1 as is_over", [end])).some(({ is_over }) => is_over);
  do {
    const { id } = await enqueue();
    await workers.sqlUntil(`select from queue.all_jobs where id = ${id} and status = 'done'`);
  } while (!(await isOver()));
}
