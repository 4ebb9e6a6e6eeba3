import { GatekeeperError, InvalidOptionsError, show } from '../core/decision/index.js';

/** A call names an allocation group that this node does not have. */
export class UnknownGroupError extends GatekeeperError {
  static override readonly className = 'UnknownGroupError';
  readonly code = 'unknown-group';

  constructor(
    /** Name of the group. */
    readonly group: string,
    known: readonly string[],
  ) {
    const groups = known.length > 0 ? `it has ${known.map(show).join(', ')}` : 'it has none';
    super(
      `${show(group)} is no allocation group of this node (${groups}): add it to allocation.groups, or call AllocationService.group() with its options`,
    );
  }
}

/** This node has an allocation group of that name already. */
export class GroupExistsError extends GatekeeperError {
  static override readonly className = 'GroupExistsError';
  readonly code = 'group-exists';

  constructor(
    /** Name of the group. */
    readonly group: string,
  ) {
    super(`this node has an allocation group ${show(group)} already: give each group a name of its own`);
  }
}

/** This node does not own the resource (any more): stop the work on it. */
export class NotOwnerError extends GatekeeperError {
  static override readonly className = 'NotOwnerError';
  readonly code = 'not-owner';

  constructor(
    /** Name of the group. */
    readonly group: string,
    /** Id of the resource. */
    readonly resource: string,
  ) {
    super(`this node does not own resource ${show(resource)} of group ${show(group)} any more: stop the work on it`);
  }
}

/** The application's `resources` function returned resources that can't be divided. */
export class InvalidResourcesError extends InvalidOptionsError {
  static override readonly className = 'InvalidResourcesError';
  override readonly code = 'invalid-resources';

  constructor(group: string, faults: readonly string[]) {
    super(`the resources of allocation group ${show(group)}`, faults);
  }
}

/** A strategy of the application threw, or its result gives a resource to no participant, or to several. */
export class AllocationStrategyError extends GatekeeperError {
  static override readonly className = 'AllocationStrategyError';
  readonly code = 'invalid-strategy';

  constructor(
    /** One sentence per fault. */
    readonly faults: readonly string[],
    options?: ErrorOptions,
  ) {
    const rule = 'A strategy must return each resource exactly once, with a participant from its input';
    super(`the result of the allocation strategy can't be used: ${faults.join('; ')}. ${rule}`, options);
  }
}
