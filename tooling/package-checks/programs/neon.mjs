import { once } from "node:events";
import { connect } from "node:net";
import { neonConfig, Pool } from "@neondatabase/serverless";
import { fromNeon, neonDatabase, neonListener } from "@queue/neon";
import { WebSocket, WebSocketServer } from "ws";
import { workJobs } from "./work-jobs.mjs";

const connectionString = process.env.DATABASE_URL;

// What stands before the database at Neon: it passes on between a WebSocket and a connection of PostgreSQL.
const { hostname, port: databasePort } = new URL(connectionString);
const proxy = new WebSocketServer({ host: "127.0.0.1", port: 0 });
proxy.on("connection", (client) => {
  const socket = connect(Number(databasePort), hostname);
  socket.on("data", (data) => client.send(data));
  socket.on("close", () => client.close());
  socket.on("error", () => client.terminate());
  client.on("message", (data) => socket.write(data));
  client.on("close", () => socket.destroy());
});
await once(proxy, "listening");
Object.assign(neonConfig, {
  // Where the runtime has a WebSocket of its own, that is what an application there uses.
  webSocketConstructor: globalThis.WebSocket ?? WebSocket,
  wsProxy: () => `127.0.0.1:${proxy.address().port}/v1`,
  useSecureWebSocket: false,
  pipelineTLS: false,
  pipelineConnect: false,
});

const pool = new Pool({ connectionString, max: 12 });
const begin = async (body, { commit }) => {
  const client = await pool.connect();
  await client.query("begin");
  await body(fromNeon(client));
  await client.query(commit ? "commit" : "rollback");
  client.release();
};
await workJobs({ db: neonDatabase(pool), listener: neonListener({ connectionString }), begin });
await pool.end();
await Promise.all([...proxy.clients].map((client) => once(client, "close")));
proxy.close();
console.log("worked");
