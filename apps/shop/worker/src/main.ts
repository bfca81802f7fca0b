import { createShopSchema, openShopDatabase } from "@shop/database";
import { createShopWorker } from "./create-shop-worker.js";
import { lineLogger } from "./line-logger.js";

const url = process.env["DATABASE_URL"];
if (url === undefined || url === "") {
  console.error("DATABASE_URL is not set. The worker and the api meet in a database that both can reach: give both the same one.");
  console.error("The whole shop in one process, without a server: npm run demo");
  process.exit(1);
}

const { db, listener, close } = await openShopDatabase({
  url,
  application: "shop-worker",
  onError: (error) => console.error(`A connection was lost: ${error.message}`),
});
try {
  await createShopSchema(db);
  const worker = createShopWorker({
    db,
    listener,
    logger: lineLogger,
    onEvent: (event) => {
      if (event.type === "worker.started") console.log(`Working as ${event.worker}. SIGTERM or Ctrl-C drains and ends it.`);
    },
  });
  await worker.run();
  console.log("Stopped: no job of this worker is running any more.");
} finally {
  await close();
}
