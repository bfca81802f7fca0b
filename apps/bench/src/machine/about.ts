import { cpus, platform, release, totalmem } from "node:os";
import { createRequire } from "node:module";
import type { BenchRedis } from "./find-redis.js";
import { type BenchServer, serverSettings } from "./bench-server.js";
import type { NodeRuntime } from "./bring-node.js";

/** Where, with what and when the run was made. */
export interface About {
  readonly date: string;
  readonly machine: { readonly cores: number; readonly cpu: string; readonly memoryGiB: number; readonly system: string };
  readonly node: string;
  readonly postgres: string;
  readonly postgresSettings: Readonly<Record<string, string>>;
  readonly redis: string | null;
  readonly versions: Readonly<Record<string, string>>;
  readonly rounds: number;
  readonly isQuick: boolean;
}

export interface AboutParts {
  readonly node: NodeRuntime;
  readonly server: BenchServer;
  readonly redis: BenchRedis | undefined;
  readonly rounds: number;
  readonly isQuick: boolean;
}

export function describeRun({ node, server, redis, rounds, isQuick }: AboutParts): About {
  return {
    date: new Date().toISOString(),
    machine: {
      cores: cpus().length,
      cpu: cpus()[0]?.model ?? "unknown",
      memoryGiB: Math.round(totalmem() / 2 ** 30),
      system: `${platform()} ${release()}`,
    },
    node: node.version,
    postgres: server.version,
    postgresSettings: serverSettings,
    redis: redis === undefined ? null : `${redis.version} (${redis.settings})`,
    versions: Object.fromEntries(["graphile-worker", "pg-boss", "bullmq", "pg", "kysely"].map((name) => [name, versionOf(name)])),
    rounds,
    isQuick,
  };
}

export function aboutLines(about: About): readonly string[] {
  const { machine, versions } = about;
  return [
    `${about.date.slice(0, 10)}, ${machine.cores} × ${machine.cpu}, ${machine.memoryGiB} GiB, ${machine.system}; server and sides share it`,
    `PostgreSQL ${about.postgres} (${pairs(about.postgresSettings, "=")}), Node ${about.node}, ${pairs(versions, " ")}` +
      `, Redis ${about.redis ?? "none"}`,
    `${about.rounds} ${about.rounds === 1 ? "round" : "rounds"}${about.isQuick ? ", --quick: small sizes, for a first look" : ""}; sides in turn; medians (least … most)`,
  ];
}

function pairs(values: Readonly<Record<string, string>>, between: string): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}${between}${value}`)
    .join(", ");
}

/** Not every package exports its package.json, so it is looked for above its entry. */
function versionOf(name: string): string {
  const require = createRequire(import.meta.url);
  for (const folder of require.resolve.paths(name) ?? []) {
    try {
      return (require(`${folder}/${name}/package.json`) as { version: string }).version;
    } catch {
      // Not in this folder: the next one further up.
    }
  }
  return "unknown";
}
