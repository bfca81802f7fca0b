import { execFile, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { onTestFinished, vi } from "vitest";
import { environment, program } from "./run-cli.js";

const run = promisify(execFile);
const deadlineMs = 20_000;

export interface Terminal {
  /** What is on the screen; with `colours`, its escape sequences, too. */
  screen(options?: { readonly colours?: boolean }): Promise<string>;
  /** Resolves with the screen when `text` is on it; rejects when that takes too long. */
  until(text: string | RegExp): Promise<string>;
  /** Presses keys, by the names that tmux has for them. */
  press(...keys: string[]): Promise<void>;
}

export interface TerminalOptions {
  readonly url: string;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** Whether tmux is installed (`apt-get install tmux`, `brew install tmux`), as it is in CI: without it nothing is a terminal here. */
export const hasTmux = spawnSync("tmux", ["-V"]).status === 0;

/** Runs `queue` with `args` in a terminal, as tmux makes one, and shows `exit: n` when it has ended. */
export async function openTerminal(
  args: readonly string[],
  { url, columns = 80, rows = 24, env = {} }: TerminalOptions,
): Promise<Terminal> {
  const folder = mkdtempSync(join(tmpdir(), "queue-terminal-"));
  // A server of its own, so that ending it ends nothing else.
  const socket = `queue-${randomBytes(6).toString("hex")}`;
  const tmux = (...command: readonly string[]) =>
    run("tmux", ["-L", socket, "-f", "/dev/null", ...command], { env: environment({ url, env }) });
  onTestFinished(async () => {
    await tmux("kill-server").catch(() => {}); // it has ended with its last session
    rmSync(folder, { recursive: true, force: true });
  });
  const command = [process.execPath, program, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
  await tmux("new-session", "-d", "-x", String(columns), "-y", String(rows), "-c", folder, `${command}; echo "exit: $?"; cat`);
  const screen = async ({ colours = false } = {}) => (await tmux("capture-pane", "-p", ...(colours ? ["-e"] : []))).stdout;
  return {
    screen,
    press: async (...keys) => void (await tmux("send-keys", ...keys)),
    async until(text) {
      let last = "";
      const isThere = async () => {
        last = await screen();
        return typeof text === "string" ? last.includes(text) : text.test(last);
      };
      await vi.waitUntil(isThere, { timeout: deadlineMs }).catch(() => {
        throw new Error(`${String(text)} did not come; on the screen is:\n${last}`);
      });
      return last;
    },
  };
}
