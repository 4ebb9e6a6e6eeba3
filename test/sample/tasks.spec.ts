import { afterEach, expect, it } from '@jest/globals';
import type { Entry } from '../../sample-app/src/ledger/ledger.js';
import { eventually } from '../contract/eventually.js';
import { describeOnHazelcast } from '../needs/members.js';
import { RunningSample, isAlive } from './running-sample.js';
import { type LetterEntry, areParallel, notOnce, outOfOrder } from './task-effects.js';

const SECOND = 1000;
/** Until the tasks of a killed node have been done by others: its lease, the turn to sweep, and the work. */
const DONE = 60 * SECOND;

describeOnHazelcast('the examples of tasks: three processes and a real member, kill -9 of one half-way', () => {
  let sample: RunningSample;
  afterEach(() => sample?.[Symbol.asyncDispose]());

  it('keep each effect once, and the order', async () => {
    sample = await RunningSample.start();
    const [one, other] = sample.ports as [number, number];
    for (const path of ['reconciliations/june', 'mail-merges/june', 'month-ends/june']) {
      expect((await sample.post(one, `/${path}`)).status).toBe(202);
    }
    await eventually(
      'a third of the record sets is compared',
      async () => (await lines('record-sets')).length > 33,
      DONE,
    );
    const before = await lines('record-sets');
    expect(before.length).toBeLessThan(100);
    process.kill(sample.pid(other), 'SIGKILL');
    await eventually('it is gone', () => !isAlive(sample.pid(other)));

    await eventually('the month is closed', async () => (await lines('closed-months')).length > 0, DONE);
    await eventually('the report is published', async () => (await lines('reports')).length > 0, DONE);
    await eventually('all letters are sent', async () => (await lines('letters')).length === 48, DONE);

    // Every node had a share, also the one that was killed.
    expect(new Set(before.map(({ node }) => node)).size).toBe(3);
    expect(notOnce(await lines('record-sets'), 100)).toEqual([]);
    expect(await lines('differences')).toMatchObject([{ difference: 450, completed: 100, total: 100 }]);
    expect(await lines('closed-months')).toMatchObject([{ month: 'june', failed: 0 }]);
    expect(sample.lines(/summed up 100 of 100 record sets/)).toHaveLength(1);
    expect(sample.lines(/closed june/)).toHaveLength(1);

    const letters = (await lines('letters')) as LetterEntry[];
    expect(notOnce(letters, 48)).toEqual([]);
    expect(outOfOrder(letters)).toEqual([]);
    expect(areParallel(letters)).toBe(true);

    const [imported, parts] = [await lines('imported'), await lines('report-parts')];
    expect(notOnce(imported, 40)).toEqual([]);
    expect(notOnce(parts, 3)).toEqual([]);
    expect(await lines('reports')).toMatchObject([{ month: 'june' }]);
    // Tokens begin with cluster time, so a later claim has a higher one.
    expect(Math.min(...parts.map(({ token }) => token))).toBeGreaterThan(
      Math.max(...imported.map(({ token }) => token)),
    );
  }, 240_000);

  async function lines(book: string): Promise<Entry[]> {
    return (await fetch(`${sample.archiveUrl}/ledger/${book}`)).json() as Promise<Entry[]>;
  }
});
