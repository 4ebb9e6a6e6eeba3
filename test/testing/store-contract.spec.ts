import { type RecordStore, StoreUnavailableError, UnknownOutcomeError } from 'nestjs-gatekeeper';
import { shelfStore } from '../../examples/store/shelf-store.js';
import { Shelf } from '../../examples/store/shelf.js';
import { type StoreLacks, type StoreUnderTest, describeStoreContract } from '../../lib/testing/contract/index.js';
import { CollectedTests } from './collected-tests.js';

const LACKS: StoreLacks = { page: 'small', readMany: 'small', tasks: 'without tasks' };

interface Trial {
  readonly shelf?: Shelf;
  readonly lacks?: StoreLacks;
  /** Changes each opened store. */
  readonly change?: (store: RecordStore) => void;
  readonly largestPage?: number;
  readonly canBeSilent?: boolean;
}

/** Runs the contract on the example of docs/stores.md. @returns failures by the name of the test, without its groups */
async function failuresOf({ canBeSilent, ...trial }: Trial) {
  const { shelf = new Shelf(), lacks = LACKS, change = () => undefined, ...figures } = trial;
  const tests = new CollectedTests();
  const open = () => {
    const store = shelfStore(shelf).open();
    change(store);
    return store;
  };
  const request = shelf.request.bind(shelf);
  const outage = {
    begin: async () => void (shelf.isReachable = false),
    ...(canBeSilent && { silence: async () => void (shelf.request = () => new Promise(() => undefined)) }),
    end: async () => {
      shelf.isReachable = true;
      shelf.request = request;
    },
  };
  const underTest: StoreUnderTest = { open, stop: async () => undefined, ...figures, ...(!lacks.outage && { outage }) };
  describeStoreContract({ name: 'the shelf', runner: tests.runner, lacks, prepare: () => underTest });
  const failures = await tests.run();
  const short = [...failures].map(([name, message]) => [name.split(' › ').slice(1).join(': '), message] as const);
  return { tests, failures: new Map(short) };
}

/** Both clocks go so many times as fast. They follow one clock: what the ticks of two differ by would be as many times as much. */
function hurryClocks(times: number): jest.Spied<() => number>[] {
  const now = performance.now.bind(performance);
  const [began, wallBegan] = [now(), Date.now()];
  const passed = () => times * (now() - began);
  return [
    jest.spyOn(performance, 'now').mockImplementation(() => began + passed()),
    jest.spyOn(Date, 'now').mockImplementation(() => Math.floor(wallBegan + passed())),
  ];
}

describe('The contract of stores', () => {
  let print: jest.Spied<typeof process.stderr.write>;
  beforeEach(() => {
    print = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  });
  afterEach(() => print.mockRestore());

  it('has no objection to the store of the docs', async () => {
    const { tests, failures } = await failuresOf({});
    expect([...failures]).toEqual([]);
    expect(tests.names.length).toBeGreaterThan(50);
  });

  it('finds a store that writes without a comparison', async () => {
    const shelf = new Shelf();
    shelf.compareAndSet = (key, _expected, next) => {
      shelf.texts.set(key, next);
      shelf.events.emit('change', key, next);
      return true;
    };
    const { failures } = await failuresOf({ shelf });
    expect([...failures.keys()]).toEqual(
      expect.arrayContaining([
        'compare-and-set: writes the first text only where there is none',
        'compare-and-set: leaves the text untouched when another one was expected',
        'compare-and-set: lets exactly one of many concurrent writers win, over two clients',
      ]),
    );
  });

  it('finds a store that compares in its client, and writes in a second step', async () => {
    const shelf = new Shelf();
    const compareLate = (store: RecordStore) => {
      store.compareAndSet = async (key, expected, next) => {
        if ((await store.read(key)) !== expected) return false;
        return shelf.request(() => shelf.compareAndSet(key, shelf.texts.get(key), next));
      };
    };
    const { failures } = await failuresOf({ shelf, change: compareLate, lacks: { ...LACKS, outage: 'not the point' } });
    expect([...failures.keys()]).toEqual([
      'compare-and-set: lets exactly one of many concurrent writers win, over two clients',
      'compare-and-set: lets exactly one of many concurrent first writers win, over two clients',
      'compare-and-set: makes a racy counter exact, counted up by ten flows of two clients',
    ]);
  });

  it('finds a store whose keys are compared without regard to case', async () => {
    const shelf = new Shelf();
    const { compareAndSet, texts } = { compareAndSet: shelf.compareAndSet.bind(shelf), texts: shelf.texts };
    shelf.compareAndSet = (key, ...others) => compareAndSet(key.toLowerCase(), ...others);
    const get = texts.get.bind(texts);
    texts.get = (key) => get(key.toLowerCase());
    // The contract waits 20 s for a word that never comes: on these clocks they are over in one.
    const clocks = hurryClocks(20);
    const { failures } = await failuresOf({ shelf });
    for (const clock of clocks) clock.mockRestore();
    expect([...failures.keys()]).toEqual([
      'compare-and-set: keeps texts apart whose keys look alike',
      'watch: tells of keys and texts with unicode, unchanged, also those who wait',
    ]);
  });

  it('finds a store whose pages begin at a number of texts', async () => {
    const { page: _, ...lacks } = LACKS;
    const addPages = (store: RecordStore) => {
      store.page = async (prefix, after = '0') => {
        const all = [...(await store.list(prefix))].toSorted(([one], [other]) => (one < other ? -1 : 1));
        const end = Number(after) + 500;
        return { texts: new Map(all.slice(Number(after), end)), ...(end < all.length && { next: String(end) }) };
      };
    };
    const { failures } = await failuresOf({ change: addPages, lacks });
    expect([...failures.keys()]).toEqual([
      'pages and many keys: gives each text on exactly one page, also while others are written',
    ]);
  });

  it('finds a store that keeps answers of its server, and may miss what others wrote since', async () => {
    const keepAnswers = (store: RecordStore) => {
      const kept = new Map<string, Promise<unknown>>();
      const keeping = <T>(kind: string, call: (of: string) => Promise<T>) => {
        const keep = (of: string): Promise<T> => {
          const answer = call.call(store, of);
          kept.set(kind + of, answer);
          setTimeout(() => kept.delete(kind + of), 20);
          return answer;
        };
        return (of: string) => (kept.get(kind + of) as Promise<T> | undefined) ?? keep(of);
      };
      store.list = keeping('list', store.list);
      const read = (store.read = keeping('read', store.read));
      store.readMany = async (keys) => {
        const texts = await Promise.all(keys.map(async (key) => [key, await read(key)] as const));
        return new Map(texts.flatMap(([key, text]) => (text === undefined ? [] : [[key, text]])));
      };
    };
    const { readMany: _, ...lacks } = { ...LACKS, outage: 'not the point' };
    const { failures } = await failuresOf({ change: keepAnswers, lacks });
    expect([...failures.keys()]).toEqual(
      expect.arrayContaining([
        'compare-and-set: reads what the other client has written since it last read',
        'list: lists what the other client has written since it last listed',
        'pages and many keys: reads what the other client has written since it last read',
      ]),
    );
  });

  it('finds a store that is sure of writes whose answer was lost', async () => {
    const beSure = (store: RecordStore) => {
      const write = store.compareAndSet.bind(store);
      store.compareAndSet = (...args) =>
        write(...args).catch((error: Error) => {
          throw error instanceof UnknownOutcomeError ? new StoreUnavailableError(error.message) : error;
        });
    };
    const { failures } = await failuresOf({ change: beSure });
    expect([...failures.keys()]).toEqual([
      'an outage: breaks off many writes, and each error is right about what became of its write',
    ]);
  });

  it('finds a store whose calls wait for a silent server for ever, and says when that was left out', async () => {
    const { failures } = await failuresOf({ canBeSilent: true });
    expect([...failures.keys()]).toEqual([
      'an outage: without an end of the connections makes each read fail in time',
      'an outage: without an end of the connections ends many writes in time, and each error is right about its write',
    ]);
    expect([...failures.values()][0]).toMatch(/^Not within \d+ ms: \w+ ends at a silent server$/);
    await failuresOf({});
    expect(print).toHaveBeenCalledWith(expect.stringContaining('Not tested: a silent server'));
  });

  it('finds a store that says of a write under its close that it was not made, although it was', async () => {
    const sayNothing = (store: RecordStore) => {
      const [write, close] = [store.compareAndSet.bind(store), store.close.bind(store)];
      let isClosed = false;
      store.close = () => ((isClosed = true), close());
      store.compareAndSet = async (...args) => {
        const isWritten = await write(...args);
        if (isClosed) throw new StoreUnavailableError('closed');
        return isWritten;
      };
    };
    const { failures } = await failuresOf({ change: sayNothing, lacks: { ...LACKS, outage: 'not the point' } });
    expect([...failures]).toEqual([
      [
        'close: ends writes under way, and each error is right about what became of its write',
        expect.stringContaining('A write that failed surely is there'),
      ],
    ]);
  });

  it('finds a store that answers during an outage', async () => {
    const { failures } = await failuresOf({ change: (store) => void (store.list = async () => new Map()) });
    expect([...failures.keys()]).toContain('an outage: makes list fail with a StoreUnavailableError');
  });

  it('finds a store whose pages and many keys are empty during an outage', async () => {
    const shelf = new Shelf();
    const beEmpty = (store: RecordStore) => {
      const list = store.list.bind(store);
      const orEmpty = (error: Error) => {
        if (shelf.isReachable) throw error;
        return new Map<string, string>();
      };
      store.page = async (prefix) => ({ texts: await list(prefix).catch(orEmpty) });
      store.readMany = async (keys) => {
        const texts = await list('').catch(orEmpty);
        return new Map([...texts].filter(([key]) => keys.includes(key)));
      };
    };
    const { page: _, readMany: __, ...lacks } = LACKS;
    const { failures } = await failuresOf({ shelf, change: beEmpty, lacks, largestPage: Infinity });
    expect([...failures.keys()]).toEqual([
      'an outage: makes page fail with a StoreUnavailableError',
      'an outage: makes readMany fail with a StoreUnavailableError',
    ]);
  });

  it('wants the reason for each lack', async () => {
    const { failures } = await failuresOf({ lacks: {} });
    expect(failures.get('the storage of tasks: is there, or its lack is declared')).toContain('lacks: { tasks:');
    const pages = 'gives every text whose key begins with the prefix on exactly one page, and no other';
    expect(failures.get(`pages and many keys: ${pages}`)).toContain("lacks: { page: 'the reason' }");
  });

  it('prints the reason for each lack, also among the tests', async () => {
    const { tests } = await failuresOf({});
    const printed = print.mock.calls.map(([line]) => String(line));
    expect(printed).toEqual(
      ['page.', 'readMany.', 'tasks.', 'a silent server.'].map((ability) =>
        expect.stringContaining(`Not tested: ${ability}`),
      ),
    );
    expect(tests.names.filter((name) => name.includes('lacks by declaration: small'))).toHaveLength(2);
  });

  it('refuses a lack that the store does not have', async () => {
    const addPages = (store: RecordStore) =>
      void (store.page = async (prefix) => ({ texts: await store.list(prefix) }));
    const { failures } = await failuresOf({ change: addPages });
    expect([...failures.values()]).toEqual(['The store has page: remove it from `lacks`']);
  });
});
