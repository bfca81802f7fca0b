import { DataSource } from "typeorm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createQueue, job } from "@queue/core";
import { useTestDatabase } from "@queue/test-database";
import { fromTypeorm, typeormDatabase } from "@queue/typeorm";

const database = useTestDatabase();
const queue = createQueue({ jobs: { note: job<{ n: number }>() } });
let dataSource: DataSource;

beforeAll(async () => {
  dataSource = await new DataSource({ type: "postgres", url: database.url }).initialize();
});
afterAll(() => dataSource.destroy());

describe("fromTypeorm", () => {
  test("takes the manager of a query runner that has begun, and refuses it before and after", async () => {
    const runner = dataSource.createQueryRunner();
    try {
      expect(() => fromTypeorm(runner.manager)).toThrow(expect.objectContaining({ name: "QueueError", code: "INVALID_OPTION" }));
      await runner.startTransaction();
      const executor = fromTypeorm(runner.manager);
      await queue.enqueue(executor, "note", { n: 6 });
      await runner.rollbackTransaction();
      const late = queue.enqueue(executor, "note", { n: 7 });
      await expect(late).rejects.toMatchObject({ code: "INVALID_OPTION", message: expect.stringContaining("has ended") });
    } finally {
      await runner.release();
    }
    expect((await queue.admin(typeormDatabase(dataSource)).jobs()).items).toEqual([]);
  });

  test("names one scope for all transactions of a database, whose tables need no second look", async () => {
    const scopes = [1, 2].map(() => dataSource.transaction(async (manager) => fromTypeorm(manager).scope));
    expect(await Promise.all(scopes)).toEqual([dataSource, dataSource]);
    expect(typeormDatabase(dataSource).scope).toBe(dataSource);
  });

  test.each(["would not be in yours", "dataSource.transaction(async (entityManager) => …)"])(
    "refuses a manager without a transaction, and says: %s",
    (part) => {
      expect(() => fromTypeorm(dataSource.manager)).toThrow(
        expect.objectContaining({ name: "QueueError", code: "INVALID_OPTION", message: expect.stringContaining(part) }),
      );
    },
  );
});
