import type { Client as HazelcastClient } from 'hazelcast-client';
import { RingJournal } from '../../../lib/stores/hazelcast/ring-journal.js';
import { callsOver } from './calls-over.js';

/** A ring that holds what other programs put there, too: a function stands for a value that the client can't read. */
function journalOf(items: readonly unknown[]) {
  const result = {
    size: () => items.length,
    get: (index: number) => (typeof items[index] === 'function' ? items[index]() : items[index]),
    getNextSequenceToReadFrom: () => items.length,
  };
  const ring = {
    headSequence: async () => 0,
    tailSequence: async () => items.length - 1,
    readMany: async () => result,
  };
  const client = { getRingbuffer: async () => ring } as unknown as HazelcastClient;
  return new RingJournal('audit', callsOver({ session: { client } }));
}

describe('a journal in a ringbuffer', () => {
  it('gives the entries beside those that another program put there', async () => {
    const unknownType = () => {
      throw new RangeError('There is no suitable de-serializer for type -200');
    };
    const journal = journalOf(['{"at":1}', 7, unknownType, { at: 2 }, '{"at":3}']);
    const texts = await journal.read(10);
    expect(texts).toHaveLength(5);
    expect([texts[0], texts[4]]).toEqual(['{"at":1}', '{"at":3}']);
    for (const text of texts.slice(1, 4)) expect(text).toMatch(/^not a record: /);
  });

  it('fails when the client fails for another reason', async () => {
    const broken = () => {
      throw new TypeError('broken');
    };
    await expect(journalOf([broken]).read(10)).rejects.toThrow('broken');
  });
});
