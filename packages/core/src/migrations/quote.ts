/** `name` as an SQL identifier, whatever characters it has. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** `text` as an SQL string. A back-slash makes it an escape string, so that `standard_conforming_strings` does not matter. */
export function quoteLiteral(text: string): string {
  const quoted = `'${text.replaceAll("'", "''")}'`;
  return text.includes("\\") ? ` E${quoted.replaceAll("\\", "\\\\")}` : quoted;
}

/** `body` as a dollar-quoted string, under a tag that occurs neither in it nor where it ends and the tag begins. */
export function quoteBody(body: string): string {
  let tag = "$body$";
  for (let n = 1; `${body}${tag}`.indexOf(tag) < body.length; n++) tag = `$body${n}$`;
  return `${tag}${body}${tag}`;
}
