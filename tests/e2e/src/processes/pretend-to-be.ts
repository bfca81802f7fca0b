import { syncBuiltinESMExports } from "node:module";
import os from "node:os";

/** Host names and process ids come back: in containers, every worker is process 1 of a host with the name of its image. */
export function pretendToBe(host: string, pid: number): void {
  os.hostname = () => host;
  syncBuiltinESMExports();
  Object.defineProperty(process, "pid", { value: pid });
}
