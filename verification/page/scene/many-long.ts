import {
  type GatekeeperOptions,
  type GatekeeperService,
  type HistoryEntry,
  type NodeIdentity,
  type NodeInfo,
  type StoreDefinition,
  grouped,
  single,
} from 'nestjs-gatekeeper';
import { partsOf } from '../../../lib/gatekeeper/parts.js';
import { cardsOf } from '../../../test/console/scene/cards.js';
import { publishHistory } from './history.js';

const MINUTE = 60_000;
/** The longest name that the library accepts, in characters. */
const LONGEST = 200;
/** The longest text in an entry of a node or of the history. */
const LONGEST_TEXT = 1000;
/** Error message of 2,000 characters: sentences, a word that no line can hold, and line breaks. */
export const LONG_ERROR = [
  'connect ETIMEDOUT 10.0.9.14:5432 while the nightly export waited for its lock.',
  `SQL: ${'SELECT'.padEnd(700, 'x')}`,
  'at ExportJob.run (/srv/app/dist/jobs/export.js:118:21) '.repeat(40),
]
  .join('\n')
  .slice(0, 2000);

/** Time zone and fields of each kind, as schedules in code have them. */
const EXPRESSIONS = ['0 */6 * * *', '15,45 8-18/2 * * MON-FRI', '*/12 * * * *', '30 0 3 1,15 * *'];

/** A name of 200 characters that no line can break. */
export function longName(prefix: string, index: number): string {
  return `${prefix}${index}`.padEnd(LONGEST, 'abcdefghij');
}

/** Every other name is long. */
function nameOf(prefix: string, index: number): string {
  return index % 2 === 0 ? longName(prefix, index) : `${prefix}-${index}`;
}

function indices(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

/** Options of a node that defines so many semaphores, scopes and resources. */
export function manyLong(count: number): Partial<GatekeeperOptions> {
  if (count === 0) return {};
  const resources = indices(count).map((index) => nameOf('resource', index));
  const group = { name: nameOf('group', 0), resources: () => resources, id: (each: string) => each, settleDelay: 0 };
  return {
    definitions: indices(count).map((index) => ({
      name: nameOf('job', index),
      groupPattern: index % 3 === 0 ? '.*' : `${nameOf('zone', 0)}|${nameOf('zone', 1)}`,
      permits: 1 + (index % 3),
      duration: '1h',
    })),
    group: nameOf('zone', 0),
    version: nameOf('version', 0),
    heartbeat: '1h',
    leadership: { scopes: indices(Math.min(count, 5)).map((index) => longName('scope', index).slice(0, 190)) },
    membership: { lease: '30s' },
    allocation: { groups: [group] },
  };
}

/** Fills a store with so many of each kind, with long names and errors, as the pages of the console show them. */
export class ManyLong {
  readonly semaphore = nameOf('job', 0);
  readonly scope = `leader:${longName('scope', 0).slice(0, 190)}`;
  readonly type = 't'.padEnd(64, 'ype');
  readonly groupType = 'grouped';
  readonly group = nameOf('month', 0);
  readonly failed = `${this.type}:${nameOf('order', 0)}`;
  readonly #ends = new AbortController();

  constructor(
    private readonly store: StoreDefinition,
    private readonly count: number,
  ) {}

  /** Address of the page of the last run that failed. */
  get run(): string {
    return this.#runAt;
  }

  #runAt = '';

  /** What nodes would have written. Call this before the first node starts. */
  async publish(now: number): Promise<void> {
    const { count } = this;
    const store = this.store.open({ callTimeout: 10_000 });
    const cards = cardsOf(count, now).map((card, index) => ({
      ...card,
      acquirer: nameOf('worker', index),
      group: nameOf('zone', index),
      host: nameOf('host', index),
      version: nameOf('version', index),
      clock: index === 0 ? { offset: -1840, suspect: LONG_ERROR.slice(0, LONGEST_TEXT) } : card.clock,
      jobs: jobsOf(index === 0 ? count : 1, now),
    }));
    for (let at = 0; at < cards.length; at += 100)
      await store.records.compareAndSet(
        `nodes:many${at}`,
        undefined,
        JSON.stringify({ v: 1, nodes: cards.slice(at, at + 100) }),
      );
    if (count > 0) await this.#publishRuns(store, cards, now);
    await store.close();
  }

  async #publishRuns(
    store: Parameters<typeof publishHistory>[0],
    cards: readonly NodeIdentity[],
    now: number,
  ): Promise<void> {
    const runs = indices(this.count).map((index): HistoryEntry => {
      const { group, acquirer, instance } = cards[index]!;
      const at = now - (index + 1) * MINUTE;
      const outcome = index % 2 === 0 ? 'failed' : 'ok';
      return {
        kind: 'run',
        semaphore: nameOf('job', index % 2),
        job: nameOf('Jobs.run', index % 2),
        node: { group, acquirer, instance },
        at,
        took: 1234 * (index % 50),
        outcome,
        ...(outcome === 'failed' && { message: LONG_ERROR.slice(0, LONGEST_TEXT) }),
        token: at * 1024,
        slot: 0,
      };
    });
    const [{ semaphore, job, node, at }] = runs as [HistoryEntry];
    this.#runAt = ['runs', 'of', semaphore, job, node.instance, String(at)].map(encodeURIComponent).join('/');
    const terms = indices(this.count).map((index): HistoryEntry => {
      const from = now - (this.count - index) * MINUTE;
      const { group, acquirer, instance } = cards[index % Math.min(5, this.count)]!;
      return {
        kind: 'run',
        semaphore: this.scope,
        job: 'leadership',
        node: { group, acquirer, instance },
        at: from,
        took: 40_000,
        outcome: 'ok',
        token: from * 1024,
        slot: 0,
        ended: 'resigned',
      };
    });
    await publishHistory(store, [...runs, ...terms]);
  }

  /** What operators and tasks did. */
  async play(node: GatekeeperService): Promise<void> {
    const { count } = this;
    if (count === 0) return;
    const by = nameOf('operator', 0);
    const reason = nameOf('because ', 0);
    for (const index of indices(count)) {
      await node.definitions.edit(nameOf('job', index), { duration: '2h' }, { by, reason });
    }
    await node.cluster.initialize();
    await node.cluster.scope(this.scope.slice('leader:'.length)).whenLeader();
    const fail = () => Promise.reject(new Error(LONG_ERROR));
    await node.run(nameOf('job', 0), fail, { job: nameOf('Jobs.run', 0), atLeastFor: 0 }).catch(() => undefined);
    await node.run(nameOf('job', 0), () => undefined, { job: nameOf('Jobs.run', 0), atLeastFor: 0 });
    await node.tryAcquire(nameOf('job', 0), { holder: nameOf('holder', 0) });
    await node.definitions.pause(nameOf('job', 1 % count), { by, reason });
    if (count > 3) {
      await node.definitions.maintenance.start({ window: longName('window', 0), names: nameOf('job', 3), by, reason });
    }
    await this.#playTasks(node);
  }

  async #playTasks(node: GatekeeperService): Promise<void> {
    const { count, type, group } = this;
    const { tasks } = partsOf(node);
    tasks.handlers.handle(type, () => Promise.reject(new Error(LONG_ERROR)), { concurrency: 8 });
    tasks.handlers.handle('running', ({ signal, progress }) => this.#wait(signal, progress), { concurrency: 2 });
    tasks.handlers.onGroupFinished(type, () => undefined);
    for (const index of indices(Math.min(count, 50))) {
      const expression = EXPRESSIONS[index % EXPRESSIONS.length]!;
      tasks.schedules.add(`tick${index}-`.padEnd(index % 2 === 0 ? 58 : 0, 'abc'), expression, () => undefined, {
        timeZone: 'America/Argentina/Buenos_Aires',
        missed: 'once',
      });
    }
    tasks.start();
    await tasks.submitMany([
      ...indices(count).map((index) => ({
        name: single(type, nameOf('order', index)),
        data: { text: LONG_ERROR },
        options: { maxAttempts: 1 },
      })),
      ...indices(count).map((index) => ({ name: single('running', nameOf('run', index)) })),
      ...indices(count).map((index) => ({ name: single(`type-${index}`.padEnd(64, 'x'), nameOf('first', index)) })),
      ...indices(count).map((index) => ({ name: grouped('grouped', group, index + 1, count) })),
      ...indices(Math.min(count, 50)).map((index) => ({ name: grouped(type, nameOf('month', index), 1, 2) })),
    ]);
  }

  async #wait(signal: AbortSignal, progress: (done: number, all: number, note: string) => void): Promise<void> {
    progress(1200, 4800, nameOf('reads', 0));
    if (this.#ends.signal.aborted) return;
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error));
      this.#ends.signal.addEventListener('abort', () => resolve());
    });
  }

  close(): void {
    this.#ends.abort();
  }
}

function jobsOf(count: number, now: number): NodeInfo['jobs'] {
  return indices(count).map((index) => ({
    job: nameOf('Jobs.run', index),
    semaphore: nameOf('job', index),
    schedule: {
      kind: 'cron',
      expression: EXPRESSIONS[index % EXPRESSIONS.length]!,
      timeZone: 'America/Argentina/Buenos_Aires',
      next: now + (index + 1) * 10_000,
      interval: 12 * MINUTE,
    },
  }));
}
