import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { compiledProgram } from '../../support/compiled-program.js';

/** Address of the store of all nodes. */
export interface DueStore {
  readonly redis?: string;
  readonly postgres?: string;
  readonly hazelcast?: { readonly clusterName: string; readonly members: readonly string[] };
}

/** What a node prints, one line of JSON each. */
export type DueLine =
  | { readonly type: 'ready' }
  | { readonly type: 'submitted'; readonly id: string }
  | { readonly type: 'began'; readonly id: string; readonly at: number; readonly due?: number }
  | { readonly type: 'holds'; readonly id: string; readonly token: number; readonly at: number };

/** ms of a claim's lease. */
export const LEASE = 2000;

const PROGRAM = compiledProgram('verification/processes/due/due-node.ts');
/** ms of `clockTolerance` by default. */
const TOLERANCE = 500;
/** ms after the last due time until which a task may begin. */
const PATIENCE = 15_000;

/** Times in ms. */
export interface Spread {
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((one, other) => one - other);
  const share = (part: number) => Math.round(sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? NaN);
  return { count: sorted.length, p50: share(0.5), p95: share(0.95), p99: share(0.99), max: share(1) };
}

/** A node in a process of its own. */
class NodeProcess {
  readonly #child: ChildProcess;
  readonly #ready: Promise<void>;
  killedAt?: number;

  constructor(
    readonly name: string,
    store: DueStore,
    heard: (line: DueLine, from: NodeProcess) => void,
  ) {
    const args = [PROGRAM, JSON.stringify(store), name];
    this.#child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#child.stdin!.on('error', () => undefined);
    this.#ready = new Promise((resolve) => {
      createInterface({ input: this.#child.stdout! }).on('line', (text) => {
        const line = JSON.parse(text) as DueLine;
        if (line.type === 'ready') resolve();
        else heard(line, this);
      });
    });
  }

  get ready(): Promise<void> {
    return this.#ready;
  }

  send(command: string): void {
    this.#child.stdin!.write(`${command}\n`);
  }

  async kill(): Promise<void> {
    this.killedAt = Date.now();
    this.#child.kill('SIGKILL');
    await once(this.#child, 'exit');
  }
}

/** Nodes in processes of their own, of which some are killed. */
export class DueRun implements AsyncDisposable {
  readonly #nodes: NodeProcess[] = [];
  readonly #submitted = new Set<string>();
  /** ms that each task began late. */
  readonly #late = new Map<string, number>();
  /** The node that holds each task last. */
  readonly #holders = new Map<string, NodeProcess>();
  /** ms from the kill of a holder to the next attempt. */
  readonly #takeovers: number[] = [];
  #count = 0;

  constructor(private readonly store: DueStore) {}

  /** One after another, so that the first one is the one that sweeps. */
  async start(nodes: number): Promise<void> {
    for (let count = 0; count < nodes; count++) {
      await this.#add();
      await pause(300);
    }
    // All have their ranks after it.
    await pause(3000);
  }

  /**
   * Each node submits delayed tasks. Meanwhile the one that sweeps is killed, and then another one.
   *
   * @param count of all tasks
   * @param perSecond of all nodes
   */
  async delays(count: number, perSecond: number, isKilled: boolean): Promise<Spread> {
    const nodes = [...this.#nodes];
    const each = Math.ceil(count / nodes.length);
    const every = (1000 * nodes.length) / perSecond;
    for (const { name } of nodes) this.#node(name).send(`submit ${name} ${each} ${every}`);
    if (isKilled) {
      await pause((each * every) / 3);
      await this.#kill(nodes[0]!);
      await pause((each * every) / 3);
      await this.#kill(nodes[2]!);
      await pause((each * every) / 3);
      // The living ones submit what the killed ones had left.
      const rest = count - this.#submitted.size;
      nodes[1]!.send(`submit rest ${rest} ${1000 / perSecond}`);
      await pause((rest * 1000) / perSecond);
    } else await pause(each * every);
    const end = Date.now() + 2000 + PATIENCE;
    // By their ids: a task whose node was killed before it could say that it had submitted it begins, too.
    const notBegun = () => [...this.#submitted].filter((id) => !this.#late.has(id));
    while (notBegun().length > 0 && Date.now() < end) await pause(100);
    const lost = notBegun();
    if (lost.length > 0) throw new Error(`tasks that did not begin: ${lost.slice(0, 5).join()}`);
    const late = [...this.#late.values()];
    if (Math.min(...late) < 0) throw new Error(`a task began ${-Math.min(...late)} ms before its time`);
    return spreadOf(late);
  }

  /** Kills a node again and again, each time another one, and starts a new one. @returns ms from a kill to the next attempt */
  async takeovers(kills: number, every: number): Promise<Spread & { readonly bound: number }> {
    for (let number = 0; number < 2 * this.#nodes.length; number++) this.#nodes[0]!.send(`hold ${number}`);
    await pause(1500);
    for (let kill = 0; kill < kills; kill++) {
      // Mostly one of the oldest, which have the ranks.
      await this.#kill(this.#nodes[kill % 2 === 0 ? 0 : Math.floor(Math.random() * this.#nodes.length)]!);
      void this.#add();
      await pause(every);
    }
    await pause(LEASE + TOLERANCE + 8000);
    return { ...spreadOf(this.#takeovers), bound: LEASE + TOLERANCE + 1000 };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#nodes.splice(0).map((node) => node.kill()));
  }

  async #add(): Promise<void> {
    const node = new NodeProcess(`n${++this.#count}`, this.store, (line, from) => this.#heard(line, from));
    this.#nodes.push(node);
    await node.ready;
  }

  async #kill(node: NodeProcess): Promise<void> {
    this.#nodes.splice(this.#nodes.indexOf(node), 1);
    await node.kill();
  }

  #node(name: string): NodeProcess {
    return this.#nodes.find((node) => node.name === name)!;
  }

  #heard(line: DueLine, from: NodeProcess): void {
    if (line.type === 'submitted') this.#submitted.add(line.id);
    if (line.type === 'began' && !this.#late.has(line.id)) this.#late.set(line.id, line.at - line.due!);
    if (line.type !== 'holds') return;
    const former = this.#holders.get(line.id);
    if (former?.killedAt !== undefined) this.#takeovers.push(line.at - former.killedAt);
    this.#holders.set(line.id, from);
  }
}
