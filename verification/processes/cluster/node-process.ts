import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { execa } from 'execa';
import type { GatekeeperState, StoredPermit } from 'nestjs-gatekeeper';
import { compiledProgram } from '../../support/compiled-program.js';
import { PID_MARK, supervised } from '../../../lib/testing/hazelcast/supervisor.js';
import { type Said, sharedNow } from '../../apps/say.js';
import { type AppSettings, SETTINGS } from '../../apps/settings.js';
import { eventually } from '../../../test/contract/eventually.js';
import { type WrongClock, forgetClockOf, withClock } from './wrong-clock.js';

/** Node's arguments for the app. */
const APP: readonly string[] = [compiledProgram('verification/apps/main.ts')];

/** ms: a busy machine starts servers and several nodes at once, and no promise is about that. */
const LONGEST_START = 60_000;

/** A harmless line: cron on a late tick (a freeze, a clock jump). */
const NOT_OURS = /^\[Cron\] Missed execution deadline/;

/** A line of a node's log: an event of the gatekeeper, or output of a job in verification/apps. */
export interface NodeSaid extends Said {
  readonly node: string;
  readonly semaphore?: string;
  readonly reason?: string;
  readonly token?: number;
  readonly permit?: StoredPermit;
}

/** Fields that a line must have to match. */
export type Like = Partial<Record<string, unknown>>;

/** How a process ended. */
export interface Ending {
  readonly exitCode?: number;
  readonly signal?: string;
}

/** Where a node runs, and who hears it. */
export interface Environment {
  readonly clock?: WrongClock | undefined;
  /** Node's arguments; the app of verification/apps unless given. */
  readonly app?: readonly string[];
  /** Put in front of everything: a network of its own. */
  readonly command?: readonly string[];
  /** Called with all that it says, at once. */
  readonly onSaid?: (said: NodeSaid) => void;
}

/** One node of a cluster: a test app in a process of its own. It can't outlive the test, however that ends. */
export class NodeProcess implements AsyncDisposable {
  readonly name: string;
  /** Resolves when the process is gone; never rejects. */
  readonly ended: Promise<Ending>;
  /** All that it said, in order. */
  readonly said: NodeSaid[] = [];
  /** Lines that are not events: what Nest logs. */
  readonly log: string[] = [];
  /** Lines of its standard error. */
  readonly errors: string[] = [];
  readonly #child;
  #pid?: number;
  #isRunning = true;

  constructor(
    settings: AppSettings,
    private readonly environment: Environment = {},
  ) {
    this.name = settings.name;
    const { clock, command = [], app = APP } = environment;
    const program = [...(clock ? withClock(clock) : []), process.execPath, ...app];
    const { file, args } = supervised(command, program);
    this.#child = execa(file, args, {
      env: { [SETTINGS]: JSON.stringify(settings), NODE_OPTIONS: '' },
      stdin: 'pipe',
      buffer: false,
      reject: false,
      detached: true,
    });
    const outputs = Promise.all([
      eachLine(this.#child.stdout, (line) => this.#read(line)),
      eachLine(this.#child.stderr, (line) => this.errors.push(line)),
    ]);
    this.ended = outputs.then(() => this.#ending());
  }

  /** Starts a node and waits until it serves requests. */
  static async start(settings: AppSettings, environment?: Environment): Promise<NodeProcess> {
    const node = new NodeProcess(settings, environment);
    await node.ready();
    return node;
  }

  /** Waits until it serves requests, or finds that it does. @returns what it said then, with its port */
  ready(): Promise<NodeSaid> {
    return this.hears('ready', {}, { since: 0, within: LONGEST_START });
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Matching lines so far, in order. */
  all(event: string, like: Like = {}, since = 0): NodeSaid[] {
    return this.said.filter(
      (said) =>
        said.event === event &&
        said.at >= since &&
        Object.entries(like).every(([field, value]) => said[field] === value),
    );
  }

  /** The last of {@link all}. */
  last(event: string, like: Like = {}): NodeSaid | undefined {
    return this.all(event, like).at(-1);
  }

  /**
   * Waits for it to say so.
   *
   * @param when.since from when it counts, by the shared clock; now unless given: too late if an act before has caused it already
   * @param when.within deadline in ms
   * @throws with the last that it said, when that is over or the process has ended without it
   */
  async hears(event: string, like: Like = {}, when: { since?: number; within?: number } = {}): Promise<NodeSaid> {
    const { since = sharedNow(), within = 20_000 } = when;
    const what = `${this.name} says ${event} ${JSON.stringify(like)}`;
    const found = () => this.all(event, like, since)[0];
    await eventually(what, () => found() !== undefined || !this.#isRunning, within).catch((cause: unknown) => {
      throw new Error(`${(cause as Error).message}\n${this.#tail()}`, { cause });
    });
    const said = found();
    if (!said) throw new Error(`Ended before this: ${what}\n${this.#tail()}`);
    return said;
  }

  /** ms between two moments, by the shared clock, in which the machine gave it no time. */
  stalledWithin(from: number, to: number): number {
    const stalls = this.all('stalled', {}, from).map(
      ({ at, since }) => Math.min(at, to) - Math.max(Number(since), from),
    );
    return stalls.reduce((sum, ms) => sum + Math.max(0, ms), 0);
  }

  async state(): Promise<GatekeeperState> {
    const { port } = this.last('ready')!;
    const answer = await fetch(`http://127.0.0.1:${String(port)}/`);
    return (await answer.json()) as GatekeeperState;
  }

  /** To the app itself, whatever stands in front of it. */
  signal(name: NodeJS.Signals): void {
    if (this.#isRunning && this.#pid !== undefined) process.kill(this.#pid, name);
  }

  /** Ends it as a crash would. */
  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.ended;
  }

  freeze(): void {
    this.signal('SIGSTOP');
  }

  thaw(): void {
    this.signal('SIGCONT');
  }

  /** Lines that no healthy process logs. */
  get faults(): string[] {
    const faults = this.all('fault').map((said) => JSON.stringify(said));
    return [...faults, ...this.errors.filter((line) => !NOT_OURS.test(line))].map((line) => `${this.name}: ${line}`);
  }

  /** Closing the pipe is enough: the supervisor's answer to that is SIGKILL, also for a frozen one. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin.end();
    await this.ended;
  }

  #read(line: string): void {
    if (line.startsWith(PID_MARK)) this.#pid = Number(line.slice(PID_MARK.length));
    else if (line.startsWith('{"event"')) this.#heard({ node: this.name, ...(JSON.parse(line) as Said) });
    else this.log.push(line);
  }

  #heard(said: NodeSaid): void {
    this.said.push(said);
    this.environment.onSaid?.(said);
  }

  async #ending(): Promise<Ending> {
    const { exitCode, signal } = await this.#child;
    if (this.environment.clock && this.#pid !== undefined) await forgetClockOf(this.#pid);
    this.#isRunning = false;
    return { exitCode, signal };
  }

  #tail(): string {
    const events = this.said.slice(-15).map((said) => JSON.stringify(said));
    return [...events, ...this.log.slice(-5), ...this.errors.slice(-20)].join('\n');
  }
}

/** Resolves when all lines were read. */
async function eachLine(output: Readable, read: (line: string) => void): Promise<void> {
  await once(createInterface({ input: output }).on('line', read), 'close');
}
