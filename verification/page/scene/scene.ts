import {
  Gatekeeper,
  type NodeInfo,
  type SemaphoreDefinitionInput,
  type StoreDefinition,
  parseGatekeeperOptions,
} from 'nestjs-gatekeeper';
import { cardsOf, publishCards } from '../../../test/console/scene/cards.js';
import { pastRuns, pastTerms, publishHistory } from './history.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

export const DEFINITIONS: SemaphoreDefinitionInput[] = [
  { name: 'nightly-export', groupPattern: 'production', acquirerPattern: 'app[123]', duration: '10m' },
  { name: 'invoice-run', groupPattern: 'production', duration: '5m' },
  { name: 'mail-queue', permits: 3, duration: '2m' },
  { name: 'search-reindex', groupPattern: 'production', duration: '30m' },
  { name: 'thumbnail-workers', permits: 4, duration: '1m' },
  { name: 'exchange-rates', groupPattern: 'production', duration: '5m' },
  { name: 'session-cleanup', duration: '1m' },
  { name: 'report-archive', groupPattern: 'dr-site', duration: '15m' },
  { name: 'stock-sync', groupPattern: 'warehouse', duration: '5m' },
  { name: 'billing-close', groupPattern: 'production', duration: '1h' },
  { name: 'leader', groupPattern: 'production', duration: '30s' },
];

const silent = { log() {}, warn() {}, error() {}, debug() {} };

/** A cluster in the middle of its day: nodes at work, a history, and what operators did to it. */
export class Scene {
  readonly #nodes: Gatekeeper[] = [];

  constructor(private readonly store: StoreDefinition) {}

  /** @param now cluster time in ms */
  async play(now: number): Promise<void> {
    const [one, two, three] = await Promise.all(['app1', 'app2', 'app3'].map((name) => this.#node(name)));
    await this.#publish(now, [one!, two!, three!]);
    await one!.tryAcquire('nightly-export');
    await two!.tryAcquire('invoice-run');
    await three!.tryAcquire('search-reindex');
    await Promise.all([one!, two!].map((node) => node.tryAcquire('mail-queue')));
    await Promise.all([one!, two!, three!].map((node) => node.tryAcquire('thumbnail-workers')));
    await two!.tryAcquire('leader', { keepAlive: true });
    for (const node of [two!, one!, three!]) await node.cluster.initialize();
    await two!.cluster.scope().whenLeader();
    await this.#operate(one!);
  }

  async close(): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node.close()));
  }

  async #operate({ definitions }: Gatekeeper): Promise<void> {
    await definitions.edit(
      'nightly-export',
      { acquirerPattern: 'app[12]' },
      { by: 'ann', reason: 'app3 is being drained' },
    );
    await definitions.edit('mail-queue', { permits: 2 }, { by: 'ben', reason: 'the relay throttles us' });
    await definitions.pause('billing-close', { by: 'ann', reason: 'waiting for the auditors, OPS-214' });
    await definitions.edit('exchange-rates', { duration: '3m' }, { by: 'ben' });
    await definitions.reset('exchange-rates', { by: 'ben', reason: 'the feed is fast again' });
  }

  async #publish(now: number, [one, two, three]: readonly Gatekeeper[]): Promise<void> {
    const store = this.store.open();
    const nodes = [one!.node, two!.node, three!.node];
    await publishCards(store, cardsOf(6, now, jobs(now)));
    await publishHistory(store, [
      ...pastRuns(
        {
          semaphore: 'nightly-export',
          job: 'ExportJob.run',
          nodes: nodes.slice(0, 2),
          every: 12 * MINUTE,
          took: 4 * MINUTE,
          runs: 24,
          bad: { 9: 'failed', 16: 'lost' },
        },
        now,
      ),
      ...pastRuns(
        { semaphore: 'invoice-run', job: 'InvoiceJob.run', nodes, every: 5 * MINUTE, took: 40_000, runs: 30 },
        now,
      ),
      ...pastRuns(
        { semaphore: 'mail-queue', job: 'MailJob.flush', nodes, every: 2 * MINUTE, took: 9000, runs: 30 },
        now,
      ),
      ...pastRuns(
        {
          semaphore: 'search-reindex',
          job: 'SearchJob.reindex',
          nodes,
          every: 30 * MINUTE,
          took: 11 * MINUTE,
          runs: 8,
        },
        now,
      ),
      ...pastRuns(
        {
          semaphore: 'exchange-rates',
          job: 'RatesJob.fetch',
          nodes,
          every: 5 * MINUTE,
          took: 900,
          runs: 20,
          bad: { 1: 'failed' },
        },
        now,
      ),
      ...pastRuns(
        { semaphore: 'session-cleanup', job: 'CleanupJob.run', nodes, every: MINUTE, took: 350, runs: 20 },
        now,
      ),
      ...pastRuns(
        { semaphore: 'report-archive', job: 'ArchiveJob.run', nodes, every: 6 * HOUR, took: 3 * MINUTE, runs: 3 },
        now,
      ),
      ...pastTerms('leader:mailbox', nodes, now),
    ]);
    await store.close();
  }

  async #node(acquirer: string): Promise<Gatekeeper> {
    const options = {
      store: this.store,
      group: 'production',
      acquirer,
      version: '4.17.2',
      definitions: DEFINITIONS,
      definitionsDelay: 0,
      leadership: { scopes: ['mailbox'] },
    };
    const node = new Gatekeeper(parseGatekeeperOptions(options), silent);
    this.#nodes.push(node);
    node.registry.jobs = () => jobs(Date.now());
    await node.start();
    // Only then its definitions are in the store.
    while ((await node.state()).semaphores.length < DEFINITIONS.length)
      await new Promise((done) => setTimeout(done, 5));
    return node;
  }
}

function jobs(now: number): NodeInfo['jobs'] {
  const cron = (job: string, semaphore: string, expression: string, interval: number, inMs: number) => ({
    job,
    semaphore,
    schedule: { kind: 'cron' as const, expression, timeZone: 'UTC', next: now + inMs, interval },
  });
  return [
    cron('ExportJob.run', 'nightly-export', '*/12 * * * *', 12 * MINUTE, 7 * MINUTE + 20_000),
    cron('InvoiceJob.run', 'invoice-run', '*/5 * * * *', 5 * MINUTE, 3 * MINUTE),
    cron('MailJob.flush', 'mail-queue', '*/2 * * * *', 2 * MINUTE, 75_000),
    cron('SearchJob.reindex', 'search-reindex', '*/30 * * * *', 30 * MINUTE, 18 * MINUTE),
    cron('RatesJob.fetch', 'exchange-rates', '*/5 * * * *', 5 * MINUTE, 4 * MINUTE),
    cron('CleanupJob.run', 'session-cleanup', '* * * * *', MINUTE, 41_000),
    cron('ArchiveJob.run', 'report-archive', '0 */6 * * *', 6 * HOUR, 6 * HOUR - (now % (6 * HOUR))),
    cron('StockJob.run', 'stock-sync', '*/5 * * * *', 5 * MINUTE, 2 * MINUTE),
    cron('BillingJob.close', 'billing-close', '0 4 1 * *', 30 * 24 * HOUR, 9 * 24 * HOUR),
  ];
}
