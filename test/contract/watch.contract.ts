import { afterEach, describe, expect, it } from '@jest/globals';
import type { RecordChange, RecordStore } from '../../lib/stores/store.js';
import { eventually } from './eventually.js';

interface Clients {
  /** Two clients of the same records. */
  stores(): readonly [one: RecordStore, other: RecordStore];
  newKey(): string;
  /** @returns a new key with that text */
  written(text: string): Promise<string>;
}

/** The sentences of the store's contract about watches. */
export function describeWatchContract({ stores, newKey, written }: Clients): void {
  const one = () => stores()[0];
  const other = () => stores()[1];
  describe('watch', () => {
    const ends: (() => Promise<void>)[] = [];
    afterEach(async () => {
      await Promise.all(ends.splice(0).map((end) => end()));
    });
    const watch = async (store: RecordStore, prefix: string): Promise<RecordChange[]> => {
      const changes: RecordChange[] = [];
      ends.push(await store.watch(prefix, (change) => changes.push(change)));
      return changes;
    };
    const heard = (changes: RecordChange[], key: string, text: string) =>
      eventually(`word of ${text}`, () => changes.some((change) => change.key === key && change.text === text));

    it('tells of a new text that the other client wrote', async () => {
      const key = newKey();
      const changes = await watch(one(), 'contract:');
      await other().compareAndSet(key, undefined, 'new');
      await heard(changes, key, 'new');
    });

    it('tells of a changed text, and ends with the latest', async () => {
      const key = await written('0');
      const changes = await watch(one(), key);
      for (let i = 0; i < 20; i += 1) await other().compareAndSet(key, String(i), String(i + 1));
      await heard(changes, key, '20');
      expect(changes.at(-1)).toEqual({ key, text: '20' });
    });

    it('tells the client itself of what it wrote, after the call began', async () => {
      const key = newKey();
      const changes = await watch(one(), key);
      const writing = one().compareAndSet(key, undefined, 'mine');
      expect(changes).toEqual([]);
      await writing;
      await heard(changes, key, 'mine');
    });

    it('tells nothing of keys that begin otherwise', async () => {
      const [watched, unwatched] = [newKey(), newKey()];
      const changes = await watch(one(), watched);
      await other().compareAndSet(unwatched, undefined, 'unwatched');
      await other().compareAndSet(watched, undefined, 'watched');
      await heard(changes, watched, 'watched');
      expect(changes.filter(({ key }) => key === unwatched)).toEqual([]);
    });

    it('tells a client that waits for a key of writes that notify only those who wait', async () => {
      const key = await written('0');
      const changes = await watch(one(), key);
      const end = one().awaitChanges(key);
      const isHeard = () => changes.some((change) => change.key === key && change.text !== undefined);
      let text = 0;
      // The first of them may be missed: the other client does not know yet that this one() waits.
      await eventually('word of it', async () => {
        await other().compareAndSet(key, String(text), String(++text), { notify: 'waiting' });
        return isHeard();
      });
      end();
    });

    it('is silent once it was ended, while others go on', async () => {
      const key = newKey();
      const ended: RecordChange[] = [];
      const end = await one().watch(key, (change) => ended.push(change));
      const going = await watch(one(), key);
      await end();
      await other().compareAndSet(key, undefined, 'text');
      await heard(going, key, 'text');
      expect(ended).toEqual([]);
    });
  });
}
