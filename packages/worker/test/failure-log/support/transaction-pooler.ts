import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import pg from "pg";

/** A pooler in transaction mode that knows nothing of named statements: PgBouncer as it was before 1.21. */
export interface TransactionPooler extends AsyncDisposable {
  /** The connection string, through the pooler. */
  readonly url: string;
  /** Names of statements that clients gave in Parse messages; the unnamed one is not among them. */
  readonly statementNames: readonly string[];
  /** SQLSTATEs of errors that the server answered. */
  readonly errorStates: readonly string[];
  /** How many transactions went through. */
  readonly transactions: number;
}

interface Message {
  readonly type: string;
  readonly bytes: Buffer;
}

/**
 * Opens `size` connections to the server, and gives one to a client for the time of each transaction, never longer: between
 * two of them a client has none, and gets any. Session state stays behind on the connection, as it does in PgBouncer.
 */
export async function openTransactionPooler(url: string, size: number): Promise<TransactionPooler> {
  const backends = await Promise.all(Array.from({ length: size }, () => openBackend(url)));
  const free = [...backends];
  const waiting: ((backend: Socket) => void)[] = [];
  const clients = new Set<Socket>();
  const statementNames: string[] = [];
  const errorStates: string[] = [];
  let transactions = 0;

  const take = (onBackend: (backend: Socket) => void) => {
    const backend = free.shift();
    if (backend === undefined) waiting.push(onBackend);
    else onBackend(backend);
  };
  const giveBack = (backend: Socket) => {
    transactions += 1;
    backend.removeAllListeners("data");
    const next = waiting.shift();
    if (next === undefined) free.push(backend);
    else next(backend);
  };

  const server = createServer({ noDelay: true }, (client) => {
    clients.add(client);
    client.on("error", () => client.destroy());
    client.on("close", () => clients.delete(client));
    let backend: Socket | undefined;
    let held: Buffer[] | undefined;
    const toBackend = (bytes: Buffer) => {
      if (backend !== undefined) return void backend.write(bytes);
      if (held !== undefined) return void held.push(bytes);
      held = [bytes];
      take((given) => {
        backend = given;
        given.on(
          "data",
          readMessages(({ type, bytes: answer }) => {
            if (type === "E") errorStates.push(stateOf(answer));
            client.write(answer);
            if (type !== "Z" || String.fromCharCode(answer[5] ?? 0) !== "I") return;
            backend = undefined;
            giveBack(given);
          }),
        );
        for (const one of held?.splice(0) ?? []) given.write(one);
        held = undefined;
      });
    };
    client.once("data", () => {
      // Startup. Everybody may come in: the pooler listens on loopback, for one test.
      client.write(Buffer.concat([message("R", int32(0)), message("Z", Buffer.from("I"))]));
      client.on(
        "data",
        readMessages(({ type, bytes }) => {
          if (type === "X") return client.end();
          if (type === "P") {
            const name = textAt(bytes, 5);
            if (name !== "") statementNames.push(name);
          }
          return toBackend(bytes);
        }),
      );
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const own = new URL(url);
  own.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    url: own.href,
    statementNames,
    errorStates,
    get transactions() {
      return transactions;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of [...clients, ...backends]) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** A connection on which pg has done the handshake, for whoever speaks next. */
async function openBackend(url: string): Promise<Socket> {
  const client = new pg.Client({ connectionString: url, application_name: "transaction pooler" });
  await client.connect();
  const { stream } = (client as unknown as { readonly connection: { readonly stream: Socket } }).connection;
  stream.removeAllListeners();
  stream.on("error", () => stream.destroy());
  return stream;
}

/** Cuts what comes into messages: a letter, the length of the rest, the rest. */
function readMessages(onMessage: (message: Message) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 5) {
      const length = rest.readInt32BE(1) + 1;
      if (rest.length < length) return;
      const bytes = rest.subarray(0, length);
      rest = rest.subarray(length);
      onMessage({ type: String.fromCharCode(bytes[0] ?? 0), bytes });
    }
  };
}

function message(type: string, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body]);
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function textAt(bytes: Buffer, from: number): string {
  return bytes.subarray(from, bytes.indexOf(0, from)).toString();
}

/** The field C of an ErrorResponse. */
function stateOf(bytes: Buffer): string {
  return bytes.toString("latin1").match(/\0C([0-9A-Z]{5})\0/)?.[1] ?? "?";
}
