import { runCli, runJson } from "./run-cli.js";

export interface DoctorReport {
  readonly found: number;
  readonly checks: readonly {
    readonly check: string;
    readonly status: "fine" | "found" | "skipped";
    readonly findings: readonly { readonly message: string; readonly advice: string }[];
    readonly reason?: string;
  }[];
}

/** Runs `queue doctor --json`. */
export async function runDoctor(url: string, args: readonly string[] = [], node: readonly string[] = []) {
  const { code, json } = await runJson<DoctorReport>(["doctor", ...args], { url, node });
  return {
    code,
    checks: json.checks,
    /** What one check came to. */
    of: (name: string) => json.checks.find(({ check }) => check === name),
    /** The names of the checks that found something. */
    found: json.checks.filter(({ status }) => status === "found").map(({ check }) => check),
    /** All that was found, as `message → advice`. */
    text: json.checks.flatMap(({ findings }) => findings.map(({ message, advice }) => `${message} → ${advice}`)).join("\n"),
  };
}

/** Runs `queue doctor` as a person reads it. */
export function runDoctorForPeople(url: string, args: readonly string[] = []) {
  return runCli(["doctor", ...args], { url });
}
