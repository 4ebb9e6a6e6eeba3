import { postgres } from '../../../lib/stores/postgres/index.js';
import type { RecordChange } from '../../../lib/core/store/driver.js';
import { closing } from '../../contract/closing.js';
import { eventually } from '../../contract/eventually.js';

/** The answers of a server to a client that polls. It keeps one record. */
class PolledServer {
  text = 'taken';
  /** Looks at the awaited records so far. */
  looks = 0;

  readonly query = async (sql: string) => {
    if (sql.includes('server_encoding'))
      return { rows: [{ encoding: 'UTF8', standby: false, comment: null, missing: [] }] };
    if (sql.includes('max(noted)')) return { rows: [{ noted: 0 }] };
    if (!sql.includes('ANY($1')) return { rows: [] };
    this.looks++;
    return { rows: [{ key: 'key', text: this.text }] };
  };
}

/** A store that polls such a server, and hears of changes. */
async function polling() {
  const server = new PolledServer();
  const store = closing(postgres({ pool: server, notifications: false, pollInterval: 50 }).open());
  const heard: RecordChange[] = [];
  await store.watch('key', (change) => {
    if (change.key !== undefined) heard.push(change);
  });
  await eventually('it is connected', () => store.health().connected);
  return { server, store, heard, [Symbol.asyncDispose]: () => store.close() };
}

it('a client that polls hears of the change that came just after it began to wait', async () => {
  await using on = await polling();
  on.store.awaitChanges!('key');
  on.server.text = 'free';
  await eventually('the change is heard', () => on.heard.length > 0);
  expect(on.heard).toEqual([{ key: 'key', text: 'free' }]);
});

it('a client that polls hears of each text once, while it waits', async () => {
  await using on = await polling();
  on.store.awaitChanges!('key');
  await eventually('three looks', () => on.server.looks > 2);
  on.server.text = 'free';
  await eventually('the change is heard', () => on.heard.some(({ text }) => text === 'free'));
  expect(on.heard).toEqual([
    { key: 'key', text: 'taken' },
    { key: 'key', text: 'free' },
  ]);
});
