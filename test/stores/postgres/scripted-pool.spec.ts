import { postgres } from '../../../lib/stores/postgres/index.js';
import { StoreUnavailableError, UnknownOutcomeError } from '../../../lib/core/store/index.js';
import { closing } from '../../contract/closing.js';
import { eventually } from '../../contract/eventually.js';

/** Answers of the server to writes, one after another; it repeats the last one. */
type Answer = 'written' | { code: string; message: string; severity?: string };

const FACTS = [{ encoding: 'UTF8', standby: false, comment: null, missing: [] }];
const RESTART = { code: '40001', message: 'restart transaction: TransactionRetryWithProtoRefreshError' };

/** A store on a server that answers each write as told, and the number of attempts. */
async function scripted(...answers: [Answer, ...Answer[]]) {
  let attempts = 0;
  const query = async (text: string, [key]: unknown[] = []) => {
    if (text.includes('server_encoding')) return { rows: FACTS };
    if (!text.startsWith('INSERT')) return { rows: [{ noted: 0 }] };
    const answer = answers[Math.min(attempts++, answers.length - 1)]!;
    if (answer === 'written') return { rows: [{ key }] };
    throw Object.assign(new Error(answer.message), { severity: 'ERROR', ...answer });
  };
  const store = closing(postgres({ pool: { query }, notifications: false }).open({ callTimeout: 2000 }));
  await eventually('connected', () => store.health().connected);
  return { store, attempts: () => attempts, [Symbol.asyncDispose]: () => store.close() };
}

it.each([RESTART, { code: '40P01', message: 'deadlock detected' }])(
  'a write that conflicts with other transactions is tried again ($code)',
  async (conflict) => {
    await using on = await scripted(conflict, conflict, 'written');
    expect(await on.store.records.compareAndSet('key', undefined, 'text')).toBe(true);
    expect(on.attempts()).toBe(3);
  },
);

it('a write that always conflicts surely did nothing, and is given up after five more tries', async () => {
  await using on = await scripted(RESTART);
  await expect(on.store.records.compareAndSet('key', undefined, 'text')).rejects.toThrow(StoreUnavailableError);
  expect(on.attempts()).toBe(6);
});

it('a write whose completion the server does not know is not tried again', async () => {
  await using on = await scripted({ code: '40003', message: 'result is ambiguous' });
  await expect(on.store.records.compareAndSet('key', undefined, 'text')).rejects.toThrow(UnknownOutcomeError);
  expect(on.attempts()).toBe(1);
});

it.each([
  { code: '42501', severity: 'FEHLER', message: 'keine Berechtigung für Tabelle records' },
  { code: '57014', severity: 'ERREUR', message: 'annulation de la requête à cause du délai écoulé' },
])('a write that a server of another language refuses surely did nothing ($severity)', async (refusal) => {
  await using on = await scripted(refusal);
  await expect(on.store.records.compareAndSet('key', undefined, 'text')).rejects.toThrow(StoreUnavailableError);
});

it.each(['FATAL', 'PANIC', '致命错误'])(
  'a write whose session the server ended has an unknown outcome (%s)',
  async (severity) => {
    await using on = await scripted({ code: '53100', severity, message: 'No space left on device' });
    await expect(on.store.records.compareAndSet('key', undefined, 'text')).rejects.toThrow(UnknownOutcomeError);
  },
);

it.each(['records', 'tasks', 'groups'] as const)(
  'texts of %s that wait behind slow statements are surely not written, and never sent',
  async (collection) => {
    let sent = 0;
    const query = async (text: string) => {
      if (text.includes('server_encoding')) return { rows: FACTS };
      if (!text.startsWith('INSERT')) return { rows: [{ noted: 0 }] };
      sent++;
      return new Promise<never>(() => undefined);
    };
    await using store = closing(postgres({ pool: { query }, notifications: false }).open({ callTimeout: 500 }));
    await eventually('connected', () => store.health().connected);
    const keys = Array.from({ length: 200 }, (_, index) => `key ${index}`);
    const writes = keys.map((key) => store[collection].compareAndSet(key, undefined, 'text'));
    const errors = await Promise.all(writes.map((write) => write.catch((error: Error) => error)));
    const unsure = errors.filter((error) => error instanceof UnknownOutcomeError);
    expect(errors.filter((error) => error instanceof StoreUnavailableError)).toHaveLength(keys.length - unsure.length);
    expect(unsure.length).toBeGreaterThan(0);
    expect(sent).toBe(2);
  },
);

describe('a pool whose connections are all in use', () => {
  /** A pool as pg's. No server answers at its address, so the store finds no connection beside it either. */
  function exhausted(connect: () => Promise<never>) {
    const options = { max: 5, host: '127.0.0.1', port: 1, connectionTimeoutMillis: 100 };
    const query = () => Promise.reject(new Error('not used'));
    return { connect, query, options, totalCount: 5, idleCount: 0, waitingCount: 3 };
  }

  it.each([
    ['lends none in time', () => new Promise<never>(() => undefined)],
    ['gives up by itself', () => Promise.reject(new Error('timeout exceeded when trying to connect'))],
  ])('is named by the error if it %s', async (_, connect) => {
    await using store = closing(postgres({ pool: exhausted(connect) }).open({ callTimeout: 700 }));
    const error: unknown = await store.records.read('key').catch((fault: unknown) => fault);
    expect(error).toBeInstanceOf(StoreUnavailableError);
    expect((error as Error).message).toContain(
      "no connection of the application's pool was free (5 of 5 in use, 3 calls wait): raise its max",
    );
  });
});
