import { readFile } from "node:fs/promises";
import { useTestDatabase } from "@queue/test-database";
import { describe, expect, it } from "vitest";
import { runCli } from "./support/run-cli.js";

const readme = new URL("../README.md", import.meta.url);

interface Step {
  readonly command: string;
  readonly output: string;
}

/** The commands of the README's console block, with what it says that they print. */
async function steps(): Promise<Step[]> {
  const block = /^```console\n([\s\S]*?)^```$/m.exec(await readFile(readme, "utf8"))?.[1] ?? "";
  return block
    .split(/^\$ /m)
    .filter((step) => step.startsWith("npx @queue/cli "))
    .map((step) => {
      const [command = "", ...output] = step.split("\n");
      return { command: command.replace("npx @queue/cli ", ""), output: output.join("\n").trimEnd() };
    });
}

/** Without what differs from day to day, and from edition to edition. */
function lasting(text: string): string {
  return text.replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/g, "TIME").replaceAll(/functions-\d{4}-[0-9a-f]{12}/g, "FUNCTIONS");
}

/** Words, and what stands in single quotes. */
function words(command: string): string[] {
  return [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? "");
}

describe("the commands of the README", () => {
  const database = useTestDatabase({ template: "empty" });

  it("print what it says, one after the other", async () => {
    const all = await steps();
    expect(all.length).toBeGreaterThan(8);
    for (const { command, output } of all) {
      const { stdout, stderr } = await runCli(words(command), { url: database.url });
      expect(lasting(`${stderr}${stdout}`.trimEnd()), command).toBe(lasting(output));
    }
  });
});

describe("the table of commands in the README", () => {
  it("has every command of the program", async () => {
    const text = await readFile(readme, "utf8");
    const { stdout } = await runCli(["--help"]);
    const commands = [...stdout.matchAll(/^ {2}([a-z]+) (?:\[|<)/gm)].flatMap(([, name]) =>
      name === undefined || name === "help" ? [] : [name],
    );
    expect(commands).toHaveLength(11);
    for (const command of commands) expect(text, command).toMatch(new RegExp(`^\\| .*\`${command}[\` ]`, "m"));
  });
});
