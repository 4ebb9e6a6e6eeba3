import { type AnswerOf, CALLS, PROTOCOL_VERSION } from '../../stores/remote/protocol.js';
import type { InputOf } from '../api/index.js';
import { onePage, readMany } from '../../core/store/paging.js';
import { ConsoleController } from '../http/console-controller.decorator.js';
import type { ConsoleResponse } from '../http/console-request.js';
import { Input, Res } from '../http/input.decorator.js';
import { Serves } from '../http/handlers.js';
import { StoreHost } from './store-host.js';
import { STORE_ROUTES } from './store.routes.js';

type Calls = typeof CALLS;
type Answer<Name extends keyof Calls> = Promise<AnswerOf<Calls[Name]>>;
type Given<Name extends keyof typeof STORE_ROUTES> = InputOf<(typeof STORE_ROUTES)[Name]>;

/** Serves the store to nodes of other applications, which can't reach it directly. See `remote()`. */
@ConsoleController()
export class StoreController {
  constructor(private readonly host: StoreHost) {}

  @Serves(STORE_ROUTES.read)
  read(@Input() { body: { key } }: Given<'read'>): Answer<'read'> {
    return this.#answered(async (store) => ({ text: await store.read(key) }));
  }

  @Serves(STORE_ROUTES.compareAndSet)
  compareAndSet(@Input() { body }: Given<'compareAndSet'>): Answer<'compareAndSet'> {
    const { key, expected, next, notify } = body;
    return this.#answered(async (store) => ({
      written: await store.compareAndSet(key, expected, next, notify && { notify }),
    }));
  }

  @Serves(STORE_ROUTES.list)
  list(@Input() { body: { prefix } }: Given<'list'>): Answer<'list'> {
    return this.#answered(async (store) => ({ texts: [...(await store.list(prefix))] }));
  }

  @Serves(STORE_ROUTES.page)
  page(@Input() { body: { prefix, after } }: Given<'page'>): Answer<'page'> {
    return this.#answered(async (store) => {
      const { texts, next } = await onePage(store, prefix, after);
      return { texts: [...texts], ...(next !== undefined && { next }) };
    });
  }

  @Serves(STORE_ROUTES.readMany)
  readMany(@Input() { body: { keys } }: Given<'readMany'>): Answer<'readMany'> {
    return this.#answered(async (store) => ({ texts: [...(await readMany(store, keys))] }));
  }

  @Serves(STORE_ROUTES.now)
  now(): Answer<'now'> {
    return this.#answered((store) => store.now());
  }

  @Serves(STORE_ROUTES.health)
  health(): Answer<'health'> {
    return this.#answered(async () => ({ protocol: PROTOCOL_VERSION }));
  }

  @Serves(STORE_ROUTES.append)
  append(@Input() { body: { journal, texts } }: Given<'append'>): Answer<'append'> {
    return this.#answered(async (store) => (await store.journal(journal).append(texts), {}));
  }

  @Serves(STORE_ROUTES.readJournal)
  readJournal(@Input() { body: { journal, limit } }: Given<'readJournal'>): Answer<'readJournal'> {
    return this.#answered(async (store) => ({ texts: await store.journal(journal).read(limit) }));
  }

  @Serves(STORE_ROUTES.watch)
  watch(@Input() { query: { prefix } }: Given<'watch'>, @Res() response: ConsoleResponse): Promise<void> {
    return this.host.stream(prefix, response);
  }

  async #answered<T>(call: (store: StoreHost['store']) => Promise<T>) {
    const { store } = this.host;
    const answer = await call(store);
    return { ...answer, health: store.health() };
  }
}
