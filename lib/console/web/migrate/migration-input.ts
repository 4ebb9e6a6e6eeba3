export interface MigrationInput {
  /** RE2 over the whole name of a semaphore; empty: all. */
  readonly names: string;
  /** Only those that let this group through now; empty: all. */
  readonly group: string;
  readonly groupPattern: string;
  readonly acquirerPattern: string;
}

export const EMPTY_MIGRATION: MigrationInput = { names: '', group: '', groupPattern: '', acquirerPattern: '' };

/** Nothing to move to is nothing to do. */
export function isComplete({ groupPattern, acquirerPattern }: MigrationInput): boolean {
  return groupPattern !== '' || acquirerPattern !== '';
}

/** As the API takes it: what was left empty is not sent. */
export function migrationBody(
  { names, group, groupPattern, acquirerPattern }: MigrationInput,
  how: { readonly dryRun: boolean; readonly limit?: number; readonly reason?: string | undefined },
) {
  return {
    ...(names !== '' && { names }),
    ...(group !== '' && { group }),
    to: { ...(groupPattern !== '' && { groupPattern }), ...(acquirerPattern !== '' && { acquirerPattern }) },
    ...how,
  };
}
