import { createServer } from "node:net";

/** A TCP port on 127.0.0.1 that was free a moment ago: whoever binds it must be ready to ask again. */
export async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", resolve);
  });
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  if (address === null || typeof address === "string") throw new Error(`Expected a TCP address, got ${String(address)}`);
  return address.port;
}
