import type { ColumnMetadata, DatabaseMetadata, TableMetadata } from "kysely-codegen";

const viewName = "all_jobs";
/** What the view unites. */
const unitedNames = ["jobs", "jobs_archive"];

/**
 * To the catalogue every column of a view may be null. Here one may be null when it is so, or is missing, in one of the tables
 * that the view unites.
 */
export function knowViewColumns(metadata: DatabaseMetadata): DatabaseMetadata {
  const view = tableNamed(metadata, viewName);
  const united = unitedNames.map((name) => tableNamed(metadata, name));
  for (const column of view.columns) {
    const sources = united.map((table) => columnNamed(table, column.name));
    if (sources.every((source) => source === undefined)) {
      throw new Error(`The view ${viewName} has a column ${column.name} that is in none of ${unitedNames.join(", ")}: what is its type?`);
    }
    column.isNullable = sources.some((source) => source === undefined || source.isNullable);
  }
  return metadata;
}

function tableNamed(metadata: DatabaseMetadata, name: string): TableMetadata {
  const table = metadata.tables.find((candidate) => candidate.name === name);
  if (table === undefined)
    throw new Error(`The migrated database has no ${name}; it has ${metadata.tables.map((each) => each.name).join(", ")}`);
  return table;
}

function columnNamed(table: TableMetadata, name: string): ColumnMetadata | undefined {
  return table.columns.find((column) => column.name === name);
}
