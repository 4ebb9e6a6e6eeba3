import { Inject, Injectable } from '@nestjs/common';
import { InvalidOptionsError, faultsOf, nameSchema, show } from '../core/decision/index.js';
import { type AllocationGroup, type AllocationGroupOptions, groupSchema } from '../allocation/index.js';
import { type Gatekeeper, partsOf } from '../gatekeeper/index.js';
import { GatekeeperService } from './gatekeeper.service.js';
import { SharedService } from './shared-services.js';

/** The allocation groups of this node: sets of resources that are divided over the living nodes. */
@Injectable()
@SharedService('AllocationService')
export class AllocationService {
  constructor(@Inject(GatekeeperService) private readonly gatekeeper: Gatekeeper) {}

  /** The groups in which this node takes part. */
  get groups(): readonly AllocationGroup[] {
    return partsOf(this.gatekeeper).allocation.groups;
  }

  /**
   * A group of this node. With options, adds the group: this node takes part in it from the end of the application's
   * start, or at once after that, but not while it shuts down. Does not wait for the store.
   *
   * @throws UnknownGroupError without options, if this node has no such group
   * @throws GroupExistsError with options, if this node has a group of that name
   * @throws InvalidOptionsError
   */
  group<T = unknown>(name: string, options?: AllocationGroupOptions<T>): AllocationGroup<T> {
    const { allocation } = partsOf(this.gatekeeper);
    if (options === undefined) return allocation.group<T>(name);
    const [named, parsed] = [nameSchema.safeParse(name), groupSchema.safeParse(options)];
    if (!named.success || !parsed.success) {
      const ofName = named.error ? faultsOf(named.error).map((fault) => `name: ${fault}`) : [];
      const ofOptions = parsed.error ? faultsOf(parsed.error) : [];
      throw new InvalidOptionsError(`allocation group ${show(name)}`, [...ofName, ...ofOptions]);
    }
    return allocation.add(named.data, parsed.data) as AllocationGroup<T>;
  }
}
