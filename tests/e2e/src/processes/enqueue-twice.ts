import { once } from "node:events";
import { queue } from "./e2e-queue.js";
import { openDatabase } from "./open-database.js";
import { report } from "./report.js";

// A web process: it only enqueues, here once at the start and again when it is told to.
const { db, lost } = openDatabase(process.env["E2E_URL"] ?? "");
report("enqueued", await queue.enqueue(db, "quick", { n: 1 }));
await once(process.stdin, "data");
report("enqueued", { ...(await queue.enqueue(db, "quick", { n: 2 })), lost: lost.length });
process.stdin.destroy();
await db.destroy();
