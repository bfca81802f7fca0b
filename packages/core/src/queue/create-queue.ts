import { createAdmin } from "../admin/create-admin.js";
import type { JobDefinitions } from "../job/job-definition.js";
import { refuseUnknownOptions } from "../job/job-options.js";
import { checkSchemaName } from "../job/schema-name.js";
import { toExecutor } from "../ports/kysely-like.js";
import { createEnqueue } from "./enqueue.js";
import { prepareJob, prepareJobs, resolveKinds } from "./prepare-job.js";
import type { Queue } from "./queue.js";

export interface QueueOptions<TJobs extends JobDefinitions, TSchema extends string> {
  /** The database schema of the tables: any name of 1 to 63 bytes. @default "queue" */
  readonly schema?: TSchema | undefined;
  /** The kinds, by name, each made by `job()`. */
  readonly jobs: TJobs;
}

/**
 * Defines a queue: its kinds, and where its tables are. Define it once, in a module that producers and workers share.
 *
 * @throws QueueError `INVALID_OPTION` naming the option
 * @example export const queue = createQueue({ jobs: { "search.reindex": job<{ productId: string }>() } });
 */
export function createQueue<TJobs extends JobDefinitions, const TSchema extends string = "queue">(
  options: QueueOptions<TJobs, TSchema>,
): Queue<TJobs, TSchema> {
  refuseUnknownOptions(options, ["schema", "jobs"], "createQueue");
  const schema = checkSchemaName(options.schema ?? "queue") as TSchema;
  const kinds = resolveKinds(options.jobs);
  const { enqueue, checkSchema } = createEnqueue(schema);
  const queue: Queue<TJobs, TSchema> = {
    schema,
    jobs: options.jobs,
    async enqueue(db, kind, payload, enqueueOptions) {
      const executor = toExecutor(db);
      const job = prepareJob(kinds, kind, payload, enqueueOptions);
      const prepared = job instanceof Promise ? await job : job;
      const [result] = await enqueue(executor, [prepared]);
      if (result === undefined) throw new TypeError("The enqueue statement returned no row.");
      return result;
    },
    async enqueueMany(db, items) {
      const executor = toExecutor(db);
      return enqueue(executor, await prepareJobs(kinds, items));
    },
    admin: (db) => createAdmin<TJobs>({ schema, kinds, checkSchema, executor: toExecutor(db) }),
  };
  return Object.freeze(queue);
}
