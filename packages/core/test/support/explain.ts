import type { Statement } from "@queue/core/internal";
import type { Session } from "./session.js";

/** What is read of a node of a plan, as EXPLAIN (FORMAT JSON) names it. */
export interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Index Cond"?: string;
  readonly "Shared Hit Blocks"?: number;
  readonly "Shared Read Blocks"?: number;
  readonly Plans?: readonly PlanNode[];
}

export interface ExplainOptions {
  /** As a statement that was prepared and is planned without its parameters. */
  readonly generic?: boolean;
  /** Runs it too, and counts the pages. */
  readonly analyze?: boolean;
}

export async function explain<TInput>(
  session: Session,
  statement: Statement<TInput, unknown>,
  input: TInput,
  { generic = false, analyze = false }: ExplainOptions = {},
): Promise<PlanNode> {
  const options = `explain (format json${analyze ? ", analyze, buffers, timing off" : ""})`;
  if (!generic) return planOf(await session.query(`${options} ${statement.sql}`, [...statement.bind(input)]));
  const parameters = statement.bind(input).map((value) => (value === null ? "null" : `'${String(value).replaceAll("'", "''")}'`));
  await session.query("set plan_cache_mode = force_generic_plan");
  await session.query(`prepare explained as ${statement.sql}`);
  const rows = await session.query(`${options} execute explained${parameters.length === 0 ? "" : `(${parameters.join(", ")})`}`);
  await session.query("deallocate explained; reset plan_cache_mode");
  return planOf(rows);
}

function planOf(rows: readonly Record<string, unknown>[]): PlanNode {
  const [explained] = rows as readonly { readonly "QUERY PLAN": readonly [{ readonly Plan: PlanNode }] }[];
  if (explained === undefined) throw new Error("EXPLAIN gave no plan.");
  return explained["QUERY PLAN"][0].Plan;
}

function allNodes(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(allNodes)];
}

/** The indexes that `table` is read by, each once: `"jobs_pkey"`, `"bitmap jobs_pkey"`; or `"all of it"`. Writes are left out. */
export function looksAt(plan: PlanNode, table: string): string[] {
  const looks = allNodes(plan).filter((node) => node["Relation Name"] === table && node["Node Type"] !== "ModifyTable");
  return [...new Set(looks.flatMap(indexesOf))].sort();
}

function indexesOf(node: PlanNode): string[] {
  const { "Node Type": type, "Index Name": index } = node;
  if (type === "Bitmap Heap Scan") {
    return allNodes(node).flatMap((part) => (part["Index Name"] === undefined ? [] : [`bitmap ${part["Index Name"]}`]));
  }
  return [index ?? (type === "Tid Scan" ? "row" : "all of it")];
}

/** How many pages were read or written, of a plan that was analysed. */
export function pagesTouched(plan: PlanNode): number {
  return (plan["Shared Hit Blocks"] ?? Number.NaN) + (plan["Shared Read Blocks"] ?? Number.NaN);
}

/** Whether anything in the plan sorts. */
export function sorts(plan: PlanNode): boolean {
  return allNodes(plan).some((node) => node["Node Type"].includes("Sort"));
}
