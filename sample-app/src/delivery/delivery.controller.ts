import { Controller, Get, UseInterceptors } from '@nestjs/common';
import { AllocationService, ClusterService, GatekeeperService } from 'nestjs-gatekeeper';
import { UnavailableInterceptor } from '../imports/unavailable.interceptor.js';
import { QUEUE_GROUP } from './queues.js';

/** Shows how the queues are divided. */
@Controller('delivery')
@UseInterceptors(UnavailableInterceptor)
export class DeliveryController {
  constructor(
    private readonly gatekeeper: GatekeeperService,
    private readonly allocation: AllocationService,
    private readonly cluster: ClusterService,
  ) {}

  @Get()
  async division() {
    const group = this.allocation.group(QUEUE_GROUP);
    // As this node knows it, by its own clocks.
    const own = {
      node: this.gatekeeper.node.acquirer,
      isLeader: this.cluster.isLeader(),
      owned: group.owned().map(({ id, token }) => ({ queue: id, token })),
    };
    // As the store has it: the same on every node.
    const { resources, nodes, faults } = await group.overview();
    return {
      ...own,
      owners: Object.fromEntries(resources.map(({ id, node }) => [id, node ?? null])),
      nodes: nodes.map(({ node, owned }) => ({ node, owned })),
      faults,
    };
  }
}
