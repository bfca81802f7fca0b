import { createShopSchema, openShopDatabase } from "@shop/database";
import { queue } from "@shop/jobs";
import { createApi } from "./create-api.js";
import { readSettings } from "./read-settings.js";
import { serveApi } from "./serve-api.js";

const settings = readSettings(process.env);
if ("problem" in settings) {
  console.error(settings.problem);
  process.exit(1);
}

const { db, close } = await openShopDatabase({
  url: settings.url,
  application: "shop-api",
  onError: (error) => console.error(`A connection was lost: ${error.message}`),
});
try {
  await createShopSchema(db);
  const api = await serveApi(createApi({ db, queue, reviewDelay: settings.reviewDelayMs }), { port: settings.port });
  console.log(`The shop is open: ${api.url}  SIGTERM or Ctrl-C closes it.`);
  await new Promise((resolve) => {
    process.once("SIGTERM", resolve);
    process.once("SIGINT", resolve);
  });
  await api.close();
  console.log("Closed: every request was answered.");
} finally {
  await close();
}
