export interface MigrationInput {
  /** RE2 for the whole name of a semaphore; empty: all. */
  readonly names: string;
  /** Only definitions that match this group now; empty: all. */
  readonly group: string;
  readonly groupPattern: string;
  readonly acquirerPattern: string;
}

export const EMPTY_MIGRATION: MigrationInput = { names: '', group: '', groupPattern: '', acquirerPattern: '' };

/** Whether a new pattern is given. */
export function isComplete({ groupPattern, acquirerPattern }: MigrationInput): boolean {
  return groupPattern !== '' || acquirerPattern !== '';
}

/** Converts the input to the API's request. Leaves out empty fields. */
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
