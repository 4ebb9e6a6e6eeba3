import type { ArchivedDefinition } from 'nestjs-gatekeeper';

/** The archived state of a semaphore that an operator changed. */
export function archived(name: string, revision = 2, rest: Partial<ArchivedDefinition> = {}): ArchivedDefinition {
  return {
    name,
    revision,
    definition: { name, groupPattern: '.*', acquirerPattern: '.*', permits: revision, duration: 10_000 },
    change: { id: `${name} ${revision}`, kind: 'edit', by: 'ann', at: 1000 },
    ...rest,
  };
}

export const names = (definitions: readonly ArchivedDefinition[]) => definitions.map(({ name }) => name);
