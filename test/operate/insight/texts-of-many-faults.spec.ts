import { inSlices } from '../../../lib/core/async/slices.js';
import { systemClock } from '../../../lib/core/async/node-clock.js';
import { decodeCards } from '../../../lib/operate/activity/node-info.js';
import { CorruptRecordError, decodeRecord, encodeRecord } from '../../../lib/core/decision/index.js';
import { aPermit, aRecord } from '../../core/decision/worlds.js';
import { CARD } from './card.js';

/** As many as fit into the largest text that a node can write. */
const MANY = 300_000;

function copies(value: unknown, length: number): unknown[] {
  return Array.from({ length }, () => value);
}

function shardOf(nodes: unknown[]): string {
  return JSON.stringify({ v: 1, nodes });
}

function cardsOf(text: string) {
  return inSlices(decodeCards(text), systemClock);
}

function refusalOf(record: object): string {
  try {
    decodeRecord('job', JSON.stringify({ ...JSON.parse(encodeRecord(aRecord())), ...record }));
  } catch (error) {
    if (error instanceof CorruptRecordError) return error.message;
    throw error;
  }
  throw new Error('it was read');
}

// Every fault that is found costs time on every node that reads the text, and is shown to everybody who looks.
describe('a text of the store with countless faults', () => {
  it('is refused for the first of its permits that is none', () => {
    const message = refusalOf({ permits: [aPermit('a'), ...copies(1, MANY)] });
    expect(message).toContain('permits.1: ');
    expect(message).not.toContain('permits.2: ');
  });

  it('is refused with the first of its unknown fields, and the number of the others', () => {
    const fields = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`k${index}`, 1]));
    const message = refusalOf(fields);
    expect(message).toContain('k0');
    expect(message).toContain('and 49950 more faults');
    expect(message.length).toBeLessThan(100_000);
  });

  it.each([
    ['numbers', 1],
    ['empty cards', {}],
  ])('leaves out cards that can be read only behind a hundred %s', async (_, bad) => {
    const few = await cardsOf(shardOf([...copies(bad, 99), CARD]));
    expect([few.nodes, few.faults.length]).toEqual([[CARD], 99]);
    const many = await cardsOf(shardOf([CARD, ...copies(bad, MANY), CARD]));
    expect(many.nodes).toEqual([CARD]);
    expect(many.faults).toHaveLength(101);
    expect(many.faults.at(-1)).toBe(`${MANY - 100 + 1} more entries, which were not checked`);
  });

  it('leaves out a card for the first of its jobs that is none', async () => {
    const { nodes, faults } = await cardsOf(shardOf([{ ...CARD, jobs: [{ job: 'x' }, ...copies({}, 900)] }, CARD]));
    expect(nodes).toEqual([CARD]);
    expect(faults).toEqual([expect.stringMatching(/^an entry: jobs\.1\.job: /)]);
    const endless = await cardsOf(shardOf([{ ...CARD, jobs: copies({}, MANY) }]));
    expect(endless.faults).toEqual([expect.stringMatching(/^an entry: jobs: /)]);
  });

  it('leaves out a card with countless times of a job before it looks at each of them', async () => {
    const job = { job: 'x', schedule: { kind: 'cron', expression: '0 3 * * *', recent: copies(1, 500_000) } };
    const text = shardOf([{ ...CARD, jobs: [job] }, CARD]);
    const { nodes, faults } = await cardsOf(text);
    expect(nodes).toEqual([CARD]);
    expect(faults).toEqual([expect.stringMatching(/^an entry: jobs\.0\.schedule\.recent: /)]);
  });
});
