import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { execa } from 'execa';
import { type HazelcastCluster, type HazelcastMember, startHazelcast } from 'nestjs-gatekeeper/testing';
import { compiledProgram } from '../../support/compiled-program.js';
import { readLogLine } from '../../../lib/testing/hazelcast/member-log.js';
import { eventually } from '../../../test/contract/eventually.js';
import { withClock } from '../cluster/wrong-clock.js';
import { CutNetwork, Loopback, type Network, type Place } from './network.js';
import { MEMBER_STORES, type MemberStoreName, type StoreMode } from './stores.js';
import type { AppSettings } from '../../apps/settings.js';
import type { FaultSite } from './fault-site.js';

const OWNER_OF = compiledProgram('verification/apps/owner-of.ts');

/** Properties of a cluster; faults with the same needs share one. */
export interface SiteOptions {
  readonly store: MemberStoreName;
  /** Whether members and clients refuse to write while fewer than two members are there. */
  readonly quorum: boolean;
  /** Whether the last member's wall clock can be set while it runs. */
  readonly memberClock: boolean;
  /** Whether everybody has a network namespace of its own. */
  readonly namespaces: boolean;
  /** A folder for what belongs to it. */
  readonly folder: string;
}

export const MEMBERS = 3;

/** ms; on a machine with much else to do a member takes its time. */
const START_TIMEOUT = 180_000;

/** A member dropped from the cluster looks for the others again after this, in s; Hazelcast's default is minutes. */
const MERGE_AFTER = 3;

/** Hazelcast members in their network, which several faults use one after the other. */
export class Site implements FaultSite {
  /** By index: how many members each said last that it sees. */
  readonly #sizes: number[] = [];
  #cluster!: HazelcastCluster;
  #places!: readonly Place[];
  #operator!: Place;

  private constructor(
    readonly options: SiteOptions,
    readonly network: Network,
  ) {}

  static async open(options: SiteOptions): Promise<Site> {
    const site = new Site(options, options.namespaces ? await CutNetwork.open() : new Loopback());
    try {
      await site.#start();
    } catch (error) {
      await site[Symbol.asyncDispose]();
      throw error;
    }
    return site;
  }

  get cluster(): HazelcastCluster {
    return this.#cluster;
  }

  get mode(): StoreMode {
    return MEMBER_STORES[this.options.store];
  }

  settings(): Pick<AppSettings, 'clusterName' | 'members' | 'store'> {
    const { clusterName, addresses } = this.#cluster;
    const store = { ...this.mode.client, ...(this.options.quorum && { quorum: 2 }) };
    return { clusterName, members: addresses, store };
  }

  /** Where a member runs. */
  place(member: HazelcastMember): Place {
    return this.#places[member.index]!;
  }

  /** Waits until each member sees all the others. */
  async whole(within = 60_000): Promise<void> {
    // A member that was cut off or frozen is dropped by the next beat of the others' hearts, if at all.
    await pause(1500);
    const seen = () => this.#sizes.map((size, index) => `member ${index} sees ${size}`).join(', ');
    const isWhole = () => this.#sizes.every((size) => size === MEMBERS);
    await eventually('the cluster is whole', isWhole, within).catch((cause: unknown) => {
      throw new Error(`The cluster is not whole within ${within} ms: ${seen()}`, { cause });
    });
  }

  /** The member that owns the partition of a semaphore's record. Asked by a process of its own, inside the network. */
  async ownerOf(semaphore: string): Promise<HazelcastMember> {
    const { clusterName, addresses, members } = this.#cluster;
    const program = [process.execPath, OWNER_OF, clusterName, addresses.join(','), semaphore];
    const [file, ...args] = [...this.#operator.command, ...program];
    const { stdout } = await execa(file!, args, { env: { NODE_OPTIONS: '' }, timeout: 10_000 });
    const owner = members.find(({ address }) => address === stdout);
    if (!owner) throw new Error(`The owner of ${semaphore} is not one of the members: ${JSON.stringify(stdout)}`);
    return owner;
  }

  /** The member whose clock can be set. */
  get clockMember(): HazelcastMember {
    return this.#cluster.members[MEMBERS - 1]!;
  }

  /** @param offset as libfaketime writes it: "+600s" */
  async setMemberClock(offset: string): Promise<void> {
    await writeFile(this.#clockFile, offset);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cluster?.stop();
    await this.network[Symbol.asyncDispose]();
  }

  get #clockFile(): string {
    return join(this.options.folder, 'clock-of-a-member');
  }

  async #start(): Promise<void> {
    const { quorum, memberClock, namespaces } = this.options;
    await mkdir(this.options.folder, { recursive: true });
    await this.setMemberClock('+0s');
    this.#operator = await this.network.place('operator');
    this.#places = await Promise.all(
      Array.from({ length: MEMBERS }, (_, index) => this.network.place(`member${index}`)),
    );
    const { version, jvmArgs = [] } = this.mode.members;
    this.#cluster = await startHazelcast({
      version,
      startTimeout: START_TIMEOUT,
      clusterName: `faults-${process.pid}`,
      members: this.#places.map(({ address, command }, index) => {
        const clock = memberClock && index === MEMBERS - 1 ? withClock({ offsetFile: this.#clockFile }) : [];
        return { address, command: [...command, ...clock], ...(namespaces && { port: 5701 }) };
      }),
      minimumClusterSize: quorum ? 2 : 1,
      jvmArgs: [
        `-Dhazelcast.merge.first.run.delay.seconds=${MERGE_AFTER}`,
        `-Dhazelcast.merge.next.run.delay.seconds=${MERGE_AFTER}`,
        ...jvmArgs,
      ],
      onLog: (member, line) => this.#heard(member.index, line),
    });
  }

  #heard(index: number, line: string): void {
    const event = readLogLine(line);
    if (event && 'pid' in event) this.#sizes[index] = 0;
    else if (event && 'size' in event) this.#sizes[index] = event.size;
  }
}
