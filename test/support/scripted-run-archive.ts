import type { ArchivedRun, HistoryArchive } from 'nestjs-gatekeeper';

/** An archive in memory, between whose calls a test can stand. */
export class ScriptedRunArchive implements HistoryArchive {
  readonly runs: ArchivedRun[] = [];
  readonly batches: number[] = [];
  readonly removals: number[] = [];
  closed = 0;
  hasMore = false;
  script?: ((call: 'append' | 'removeOld' | 'close') => Promise<void> | void) | undefined;

  async append(entries: readonly ArchivedRun[]): Promise<void> {
    await this.script?.('append');
    this.batches.push(entries.length);
    this.runs.push(...entries);
  }

  async removeOld(now: number): Promise<boolean> {
    this.removals.push(now);
    await this.script?.('removeOld');
    return this.hasMore;
  }

  async close(): Promise<void> {
    this.closed++;
    await this.script?.('close');
  }
}
