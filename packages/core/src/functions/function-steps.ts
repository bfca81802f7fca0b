/**
 * Raise it whenever a release has other texts than the one before: `migrate` of a higher edition replaces the functions, and
 * that of a lower one, which an older process may still call, leaves them alone. A test holds edition and texts together.
 */
export const functionsEdition = 1;

/** Which steps install functions; all other steps are applied once. */
const stepName = /^functions-(\d{4})-[0-9a-f]{12}$/;

/** The edition of functions that the step installs; undefined: it is another step. */
export function editionOf(step: string): number | undefined {
  const edition = stepName.exec(step)?.[1];
  return edition === undefined ? undefined : Number(edition);
}

export function padEdition(edition: number): string {
  return String(edition).padStart(4, "0");
}
