import { Changes } from './changes.js';
import type { HazelcastCluster } from './hazelcast-cluster.js';
import type { HazelcastMember } from './hazelcast-member.js';
import type { HazelcastMemberOptions, HazelcastOptions } from './hazelcast.options.js';
import { jvmArguments, type ClusterSettings } from './jvm-arguments.js';
import { LaunchedMember, type Environment } from './launched-member.js';
import { HazelcastLauncherError } from './launcher.error.js';
import { START_TIMED_OUT } from './launcher.messages.js';
import { isWhole } from './member-log.js';
import { settleMember, type MemberSettings } from './member-settings.js';

/** A cluster whose members are child processes. They end with this process. */
export class LaunchedCluster implements HazelcastCluster {
  readonly #members: LaunchedMember[] = [];
  readonly #changes = new Changes();
  readonly #startTimeout: number;

  constructor(
    private readonly java: string,
    private readonly settings: ClusterSettings,
    private readonly options: HazelcastOptions,
  ) {
    this.#startTimeout = options.startTimeout ?? 60_000;
  }

  get clusterName(): string {
    return this.settings.clusterName;
  }

  get addresses(): string[] {
    return this.#members.map(({ address }) => address);
  }

  get members(): readonly HazelcastMember[] {
    return this.#members;
  }

  /**
   * Starts the first member alone: members that start at the same moment need seconds to choose a master, or form
   * separate clusters that merge minutes later.
   */
  async start(wanted: readonly HazelcastMemberOptions[]): Promise<void> {
    for (const options of wanted) await this.#settle(options);
    try {
      const [first, ...others] = this.#members;
      await first?.start();
      await Promise.all(others.map((member) => member.start()));
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  async addMember(options: HazelcastMemberOptions = {}): Promise<HazelcastMember> {
    const member = await this.#settle(options);
    try {
      await member.start();
    } catch (error) {
      this.#members.splice(this.#members.indexOf(member), 1);
      throw error;
    }
    return member;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#members.map((member) => member.kill()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #settle(options: HazelcastMemberOptions): Promise<LaunchedMember> {
    const index = this.#members.length;
    const settings = await settleMember(index, options, this.options, this.#settings());
    const member = new LaunchedMember(index, settings, this.#environment());
    this.#members.push(member);
    return member;
  }

  #settings(): MemberSettings[] {
    return this.#members.map(({ settings }) => settings);
  }

  #environment(): Environment {
    return {
      program: (settings) => [this.java, ...jvmArguments(this.settings, settings, this.#settings())],
      joined: (member) => this.#joined(member),
      changed: () => this.#changes.announce(),
      logged: (member, line) => this.options.onLog?.(member, line),
    };
  }

  async #joined(member: LaunchedMember): Promise<void> {
    const whole = () => {
      member.assertAlive();
      return isWhole(this.#members);
    };
    try {
      await this.#changes.until(whole, this.#startTimeout, () => this.#tooLate());
    } catch (error) {
      await member.kill();
      throw error;
    }
  }

  #tooLate(): HazelcastLauncherError {
    const members = this.#members.map(({ address, running, started, size, lastLines }) => {
      const state = `running: ${running}, started: ${started}, sees ${size} members`;
      return `${address} (${state}), last line: ${lastLines.at(-1) ?? 'none'}`;
    });
    return new HazelcastLauncherError(START_TIMED_OUT(this.#startTimeout, members));
  }
}
