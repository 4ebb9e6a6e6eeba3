interface QuorumOptions {
  readonly quorum?: number | 'majority' | undefined;
  readonly expectedMembers?: number | undefined;
}

/** How many members must be seen: 0 when no quorum was asked for. */
export function quorumOf({ quorum = 0, expectedMembers = 0 }: QuorumOptions): number {
  return quorum === 'majority' ? Math.floor(expectedMembers / 2) + 1 : quorum;
}

export function quorumFaults({ quorum, expectedMembers }: QuorumOptions): string[] {
  if (quorum === 'majority' && expectedMembers === undefined) {
    return ["quorum: 'majority' needs expectedMembers, the number of members that the whole cluster has"];
  }
  if (typeof quorum !== 'number' || expectedMembers === undefined || quorum <= expectedMembers) return [];
  return [`quorum: ${quorum} is more than expectedMembers (${expectedMembers}): nothing would ever be written`];
}
