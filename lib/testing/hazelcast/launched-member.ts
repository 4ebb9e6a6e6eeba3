import { readFile, readdir } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { HazelcastMember } from './hazelcast-member.js';
import { HazelcastLauncherError } from './launcher.error.js';
import { ALREADY_RUNNING, DID_NOT_STOP, DIED_AT_START, NOT_RUNNING } from './launcher.messages.js';
import { readLogLine, type LogEvent, type MemberView } from './member-log.js';
import { MemberProcess } from './member-process.js';
import { hostAndPort, type MemberSettings } from './member-settings.js';

/** The part of the cluster that its members use. */
export interface Environment {
  /** Returns the command that runs this member. It lists the present members. */
  program(settings: MemberSettings): string[];
  /**
   * Resolves as soon as this member and all other running ones form one cluster. On failure it kills the member and
   * rejects.
   */
  joined(member: LaunchedMember): Promise<void>;
  /** Announces a change of the member's state to callers that wait for the cluster. */
  changed(): void;
  logged(member: LaunchedMember, line: string): void;
}

const LINES_KEPT = 40;
const PORT_IS_TAKEN = /Address already in use|is already in use and auto-increment is disabled/;

/** A member in a child process. */
export class LaunchedMember implements HazelcastMember, MemberView {
  readonly address: string;
  paused = false;
  started = false;
  size = 0;
  #pid: number | undefined;
  #process: MemberProcess | undefined;
  #lastLines: string[] = [];

  constructor(
    readonly index: number,
    readonly settings: MemberSettings,
    private readonly environment: Environment,
  ) {
    this.address = hostAndPort(settings);
  }

  get running(): boolean {
    return this.#process?.running ?? false;
  }

  get pid(): number | undefined {
    return this.running ? this.#pid : undefined;
  }

  get lastLines(): readonly string[] {
    return this.#lastLines;
  }

  /** Whether its log says that another process has its port. */
  get lacksPort(): boolean {
    return this.#lastLines.some((line) => PORT_IS_TAKEN.test(line));
  }

  async start(): Promise<void> {
    if (this.running) throw new HazelcastLauncherError(ALREADY_RUNNING(this.address));
    this.#pid = undefined;
    this.paused = this.started = false;
    this.size = 0;
    this.#lastLines = [];
    const program = this.environment.program(this.settings);
    const run = new MemberProcess(this.settings.command, program, (line) => this.#read(line));
    this.#process = run;
    void run.gone.then(() => this.environment.changed());
    await this.environment.joined(this);
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.#process?.signal(signal, this.#pid);
    await this.#process?.gone;
  }

  async stop(): Promise<void> {
    this.#process?.signal('SIGTERM', this.#pid);
    // A stopped process reacts only to this signal and to SIGKILL.
    this.#process?.signal('SIGCONT', this.#pid);
    await this.#process?.gone;
  }

  async pause(): Promise<void> {
    this.#runningProcess('pause').signal('SIGSTOP', this.#pid);
    this.paused = true;
    this.environment.changed();
    if (this.#pid !== undefined && !(await stopped(this.#pid, () => this.paused))) {
      throw new HazelcastLauncherError(DID_NOT_STOP(this.address));
    }
  }

  resume(): void {
    this.#runningProcess('resume').signal('SIGCONT', this.#pid);
    this.paused = false;
    this.environment.changed();
  }

  /** @throws {HazelcastLauncherError} with the last lines of its log, if its process has ended. */
  assertAlive(): void {
    if (!this.running) throw new HazelcastLauncherError(DIED_AT_START(this.address, this.#lastLines));
  }

  #runningProcess(verb: string): MemberProcess {
    if (!this.#process?.running) throw new HazelcastLauncherError(NOT_RUNNING(this.address, verb));
    return this.#process;
  }

  #read(line: string): void {
    this.#lastLines = [...this.#lastLines, line].slice(-LINES_KEPT);
    this.environment.logged(this, line);
    const event = readLogLine(line);
    if (event) this.#learn(event);
  }

  #learn(event: LogEvent): void {
    if ('pid' in event) this.#pid = event.pid;
    else if ('size' in event) this.size = event.size;
    else this.started = true;
    this.environment.changed();
  }
}

/** ms between two looks. */
const INTERVAL = 2;

/** Most ms that {@link stopped} waits. */
const PATIENCE = 5000;

/**
 * Waits until all threads of a process have stopped. A thread that runs on a processor stops some ms after the signal
 * was sent, on a busy machine later, and may answer a request until then. Without Linux's /proc it does not wait.
 *
 * @param isWanted the wait ends when this is false
 * @returns false if some still run
 */
async function stopped(pid: number, isWanted: () => boolean): Promise<boolean> {
  const end = performance.now() + PATIENCE;
  while (performance.now() < end) {
    const states = await statesOf(pid);
    if (!isWanted() || states.every((state) => !RUNS.test(state))) return true;
    await pause(INTERVAL);
  }
  return false;
}

/** Running, sleeping, or waiting for a disk: a thread that is stopped, traced or ended has another letter. */
const RUNS = /^[RSDI]/;

/** @returns the letter of each thread, as /proc tells it; none if the process has ended */
async function statesOf(pid: number): Promise<string[]> {
  const folder = `/proc/${pid}/task`;
  // No folder: the process has ended, or the system has no /proc. A thread without a file has ended since.
  const threads = await readdir(folder).catch(() => []);
  return Promise.all(threads.map((thread) => readFile(`${folder}/${thread}/stat`, 'utf8').then(stateIn, () => 'X')));
}

/** The state stands after the name, which is in brackets and may contain brackets. */
function stateIn(stat: string): string {
  return stat.slice(stat.lastIndexOf(')') + 2);
}
