/** Which steps install functions; all other steps are applied once. */
const stepName = /^functions-(\d{4})-[0-9a-f]{12}$/;

/** The edition of functions that the step installs; undefined: it is another step. */
export function editionOf(step: string): number | undefined {
  const edition = stepName.exec(step)?.[1];
  return edition === undefined ? undefined : Number(edition);
}
