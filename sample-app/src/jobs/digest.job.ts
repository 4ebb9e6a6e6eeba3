import { Injectable, Logger } from '@nestjs/common';
import {
  ClusterCron,
  type GroupContext,
  GroupFinishedHandler,
  type ScheduleContext,
  type TaskContext,
  TaskHandler,
  GatekeeperService,
  defineTask,
  grouped,
} from 'nestjs-gatekeeper';
import { Work } from '../work.js';

const REGIONS = ['africa', 'america', 'antarctica', 'asia', 'australia', 'europe'];

type Region = { region: string };
type Counted = { node: string };

const part = defineTask<Region, Counted>('digest-part');

/**
 * A schedule whose runs are tasks: any node divides the digest into parts, all nodes work on the parts, and one sends the
 * digest when all parts have ended. What a node that dies leaves undone is done by another.
 */
@Injectable()
export class DigestJob {
  readonly #logger = new Logger('digest');

  constructor(
    private readonly gatekeeper: GatekeeperService,
    private readonly work: Work,
  ) {}

  /** Once per planned time in the whole cluster. */
  @ClusterCron('*/15 * * * * *', { name: 'digest', lease: '4s' })
  async divide({ plannedAt, submitMany }: ScheduleContext): Promise<void> {
    const digest = plannedAt.toISOString().slice(11, 19);
    await submitMany(
      REGIONS.map((region, index) => ({
        name: grouped(part, digest, index + 1, REGIONS.length),
        data: { region },
      })),
    );
  }

  @TaskHandler(part, { lease: '4s' })
  async count(task: TaskContext<Region>): Promise<Counted> {
    await this.work.take(task.signal);
    return { node: this.gatekeeper.node.acquirer };
  }

  @GroupFinishedHandler(part, { lease: '4s' })
  async send(digest: GroupContext<Counted>): Promise<void> {
    const counts = new Map<string, number>();
    for await (const { result } of digest.members())
      if (result) counts.set(result.node, (counts.get(result.node) ?? 0) + 1);
    const shares = [...counts].toSorted().map(([node, count]) => `${count} by ${node}`);
    this.#logger.log(`sent the digest of ${digest.group}, parts: ${shares.join(', ')}`);
  }
}
