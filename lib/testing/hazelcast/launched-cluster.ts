import type { HazelcastCluster } from './hazelcast-cluster.js';
import type { HazelcastMember } from './hazelcast-member.js';
import type { HazelcastMemberOptions, HazelcastOptions } from './hazelcast.options.js';
import { jvmArguments, type ClusterSettings } from './jvm-arguments.js';
import { LaunchedMember, type Environment } from './launched-member.js';
import { HazelcastLauncherError } from './launcher.error.js';
import { START_TIMED_OUT } from './launcher.messages.js';
import { isWhole } from './member-log.js';
import { settleMember, type MemberSettings } from './member-settings.js';

/** Ports that are tried for a member before its start fails. */
const MOST_PORTS = 3;

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
    for (const options of wanted) this.#members.push(await this.#settle(this.#members.length, options));
    try {
      const [first, ...others] = wanted.entries();
      if (first) await this.#start(...first);
      await Promise.all(others.map((member) => this.#start(...member)));
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  async addMember(options: HazelcastMemberOptions = {}): Promise<HazelcastMember> {
    const index = this.#members.length;
    this.#members.push(await this.#settle(index, options));
    try {
      return await this.#start(index, options);
    } catch (error) {
      this.#members.splice(index, 1);
      throw error;
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#members.map((member) => member.kill()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #settle(index: number, options: HazelcastMemberOptions): Promise<LaunchedMember> {
    const settings = await settleMember(index, options, this.options, this.#settings());
    return new LaunchedMember(index, settings, this.#environment());
  }

  /** Another process may take a chosen port before Java has started. Then the member gets another one. */
  async #start(index: number, options: HazelcastMemberOptions): Promise<LaunchedMember> {
    const isChosen = options.port === undefined && this.options.basePort === undefined;
    for (let ports = 1; ; ports++) {
      const member = this.#members[index]!;
      try {
        await member.start();
        return member;
      } catch (error) {
        if (!isChosen || !member.lacksPort || ports === MOST_PORTS) throw error;
        this.#members[index] = await this.#settle(index, options);
      }
    }
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

/** Lets callers wait for conditions. Each announced change makes all conditions be checked again. */
class Changes {
  readonly #waiting = new Set<() => void>();

  announce(): void {
    for (const look of this.#waiting) look();
  }

  /**
   * Resolves as soon as `isTrue` returns true. Rejects with what it throws, or with `tooLate()` after `timeout` ms.
   */
  until(isTrue: () => boolean, timeout: number, tooLate: () => Error): Promise<void> {
    const { promise, resolve, reject } = deferred();
    const timer = setTimeout(() => reject(tooLate()), timeout);
    const look = () => {
      try {
        if (isTrue()) resolve();
      } catch (error) {
        reject(error);
      }
    };
    this.#waiting.add(look);
    look();
    return promise.finally(() => {
      clearTimeout(timer);
      this.#waiting.delete(look);
    });
  }
}

/** Does the same as `Promise.withResolvers`, which Node 20 does not have. */
function deferred() {
  let resolve!: () => void;
  let reject!: (reason: unknown) => void;
  const promise = new Promise<void>((...handles) => ([resolve, reject] = handles));
  return { promise, resolve, reject };
}
