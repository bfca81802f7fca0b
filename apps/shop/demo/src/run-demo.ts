import { createShopSchema, openShopDatabase } from "@shop/database";
import { queue } from "@shop/jobs";
import { openShop } from "./open-shop.js";
import type { DemoArguments } from "./read-arguments.js";
import { runOnce } from "./run-once.js";
import { runUntilStopped } from "./run-until-stopped.js";
import { Narrator } from "./tell/narrator.js";
import { createPaint } from "./tell/paint.js";

/** Opens the shop, lets it work until it is done or `signal` aborts, and closes it. Resolves to the exit code. */
export async function runDemo({ isOnce, databaseUrl, port }: DemoArguments, signal: AbortSignal): Promise<number> {
  const paint = createPaint(process.stdout, process.env);
  const print = (line: string) => console.log(line);
  const onError = (error: Error) => console.error(paint("red", error.message));

  print(
    paint(
      "bold",
      databaseUrl === undefined ? "A shop on a PostgreSQL inside this process." : "A shop on the PostgreSQL that DATABASE_URL names.",
    ),
  );
  const database = await openShopDatabase({ url: databaseUrl, application: "shop-demo", onError });
  try {
    await createShopSchema(database.db);
    const admin = queue.admin(database.db);
    const narrator = new Narrator({
      print,
      paint,
      toldAlways: new Set(isOnce ? [] : ["placed", "refused", "failed", "recovered", "dead"]),
      orderOf: async (jobId) => (await admin.job(jobId))?.key ?? `job ${jobId}`,
    });
    const shop = await openShop(database, { port, onEvent: (event) => narrator.event(event), onError });
    try {
      print("Tables, goods and customers are there; a worker waits for jobs.");
      print(`The page: ${paint("bold", shop.url)}\n`);
      const stage = { shop, narrator, print, paint };
      return await (isOnce ? runOnce(stage, signal) : runUntilStopped(stage, signal));
    } finally {
      await shop.close();
      await narrator.silence();
    }
  } finally {
    await database.close();
  }
}
