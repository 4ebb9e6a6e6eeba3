import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { AllocatedResources, type Allocated, AllocationService, ClusterService, LeaderOnly } from 'nestjs-gatekeeper';

@Injectable()
export class DeliveryService {
  readonly log: string[] = [];

  constructor(
    private readonly allocation: AllocationService,
    private readonly cluster: ClusterService,
  ) {}

  @AllocatedResources('queues')
  follow(owned: readonly Allocated[]): void {
    this.log.push(`owns ${owned.map(({ id }) => id).join(', ') || 'nothing'}`);
  }

  async deliverFrom(queue: string, send = async (_signal: AbortSignal) => {}): Promise<boolean> {
    const { executed } = await this.allocation.group('queues').run(queue, async ({ token, signal, assertOwned }) => {
      await send(signal);
      assertOwned();
      this.log.push(`delivered from ${queue} with token ${token}`);
    });
    return executed;
  }

  @LeaderOnly()
  @Interval(1000)
  async poll(): Promise<string | undefined> {
    return `polled by the leader of ${this.cluster.scopes[0]}`;
  }
}
