import { type Driver, StoreUnavailableError, type TextCollection, UnknownOutcomeError } from 'nestjs-gatekeeper';
import { shelf as shelfStore } from '../../examples/store/shelf-driver.js';
import { Shelf } from '../../examples/store/shelf.js';
import { type StoreLacks, type StoreUnderTest, describeStoreContract } from '../../lib/testing/contract/index.js';
import { CollectedTests } from './collected-tests.js';
import { allTexts } from '../../lib/core/store/paging.js';

const WITH_WRITE = 'a hint that goes with the write of a task';
const UNCUT: StoreLacks = { outage: 'not the point' };

interface Trial {
  readonly shelf?: Shelf;
  readonly lacks?: StoreLacks;
  /** Changes each opened store. */
  readonly change?: (store: Driver) => void;
  readonly largestPage?: number;
  readonly canBeSilent?: boolean;
  /** Whether the contract can cut the clients off. Default: if no lack is declared. */
  readonly isWhole?: boolean;
}

/** Runs the contract on the example of docs/stores.md. @returns failures by the name of the test, without its groups */
async function failuresOf({ canBeSilent, isWhole, ...trial }: Trial) {
  const { shelf = new Shelf(), lacks = {}, change = () => undefined, ...figures } = trial;
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
  const underTest: StoreUnderTest = {
    open,
    stop: async () => undefined,
    ...figures,
    ...((isWhole ?? !lacks.outage) && { outage }),
  };
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
    shelf.compareAndSet = (table, key, _expected, next, hint) => {
      shelf.tables[table].set(key, next!);
      shelf.events.emit('change', key, next);
      if (hint) shelf.offer(hint.queue, [hint.hint]);
      return true;
    };
    const { failures } = await failuresOf({ shelf });
    expect([...failures.keys()]).toEqual(
      expect.arrayContaining([
        'compare-and-set of records: writes the first text only where there is none',
        'compare-and-set of groups: leaves the text untouched when another one was expected',
        'compare-and-set of tasks: lets exactly one of many concurrent writers win, over two clients',
      ]),
    );
  });

  it('finds a store that compares in its client, and writes in a second step', async () => {
    const shelf = new Shelf();
    const compareLate = (store: Driver) => {
      store.records.compareAndSet = async (key, expected, next) => {
        if ((await store.records.read(key)) !== expected) return false;
        return shelf.request(() => shelf.compareAndSet('records', key, shelf.tables.records.get(key), next));
      };
    };
    const { failures } = await failuresOf({ shelf, change: compareLate, lacks: UNCUT });
    expect([...failures.keys()]).toEqual([
      'compare-and-set of records: lets exactly one of many concurrent writers win, over two clients',
      'compare-and-set of records: lets exactly one of many concurrent first writers win, over two clients',
      'compare-and-set of records: makes a racy counter exact, counted up by ten flows of two clients',
    ]);
  });

  it('finds a store whose keys are compared without regard to case', async () => {
    const shelf = new Shelf();
    const compareAndSet = shelf.compareAndSet.bind(shelf);
    shelf.compareAndSet = (table, key, ...others) => compareAndSet(table, key.toLowerCase(), ...others);
    for (const texts of Object.values(shelf.tables)) {
      const get = texts.get.bind(texts);
      texts.get = (key) => get(key.toLowerCase());
    }
    // The contract waits 20 s for a word that never comes: on these clocks they are over in two.
    const clocks = hurryClocks(10);
    const { failures } = await failuresOf({ shelf });
    for (const clock of clocks) clock.mockRestore();
    expect([...failures.keys()]).toEqual([
      'compare-and-set of records: keeps texts apart whose keys look alike',
      'compare-and-set of tasks: keeps texts apart whose keys look alike',
      'compare-and-set of groups: keeps texts apart whose keys look alike',
      'watch: tells of keys and texts with unicode, unchanged, also those who wait',
    ]);
  });

  it('finds a store whose pages begin at a number of texts', async () => {
    const addPages = ({ records }: Driver) => {
      const inner = { page: records.page };
      records.page = async (prefix, after = '0') => {
        const all = [...(await allTexts(inner, prefix))].toSorted(([one], [other]) => (one < other ? -1 : 1));
        const end = Number(after) + 500;
        return { texts: new Map(all.slice(Number(after), end)), ...(end < all.length && { next: String(end) }) };
      };
    };
    const { failures } = await failuresOf({ change: addPages });
    expect([...failures.keys()]).toEqual([
      'pages of records: give each text on exactly one page, also while others are written',
    ]);
  });

  it('finds a store that keeps answers of its server, and may miss what others wrote since', async () => {
    const keepAnswers = ({ records }: Driver) => {
      const kept = new Map<string, Promise<unknown>>();
      const keeping = <T>(kind: string, call: (of: string) => Promise<T>) => {
        const keep = (of: string): Promise<T> => {
          const answer = call(of);
          kept.set(kind + of, answer);
          setTimeout(() => kept.delete(kind + of), 20);
          return answer;
        };
        return (of: string) => (kept.get(kind + of) as Promise<T> | undefined) ?? keep(of);
      };
      const page = records.page;
      const first = keeping('page', (prefix) => page(prefix));
      records.page = (prefix, after) => (after === undefined ? first(prefix) : page(prefix, after));
      const read = (records.read = keeping('read', records.read));
      records.readMany = async (keys) => {
        const texts = await Promise.all(keys.map(async (key) => [key, await read(key)] as const));
        return new Map(texts.flatMap(([key, text]) => (text === undefined ? [] : [[key, text]])));
      };
    };
    const { failures } = await failuresOf({ change: keepAnswers, lacks: UNCUT });
    expect([...failures.keys()]).toEqual(
      expect.arrayContaining([
        'compare-and-set of records: reads what the other client has written since it last read',
        'compare-and-set of records: reads by many keys what the other client has written since',
        'pages of records: give what the other client has written since they were last read',
      ]),
    );
  });

  it('finds a store that is sure of writes whose answer was lost', async () => {
    const beSure = (store: Driver) => {
      for (const texts of [store.records, store.tasks, store.groups]) {
        const write = texts.compareAndSet as TextCollection['compareAndSet'];
        texts.compareAndSet = (...args: Parameters<TextCollection['compareAndSet']>) =>
          write(...args).catch((error: Error) => {
            throw error instanceof UnknownOutcomeError ? new StoreUnavailableError(error.message) : error;
          });
      }
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
    expect([...failures.values()][0]).toMatch(/^Not within \d+ ms: [\w ]+ ends at a silent server$/);
    await failuresOf({});
    expect(print).toHaveBeenCalledWith(expect.stringContaining('Not tested: a silent server'));
  });

  it('finds a store that says of a write under its close that it was not made, although it was', async () => {
    const sayNothing = (store: Driver) => {
      const close = store.close.bind(store);
      let isClosed = false;
      store.close = () => ((isClosed = true), close());
      for (const texts of [store.records, store.tasks, store.groups]) {
        const write = texts.compareAndSet as TextCollection['compareAndSet'];
        texts.compareAndSet = async (...args: Parameters<TextCollection['compareAndSet']>) => {
          const isWritten = await write(...args);
          if (isClosed) throw new StoreUnavailableError('closed');
          return isWritten;
        };
      }
    };
    const { failures } = await failuresOf({ change: sayNothing, lacks: UNCUT });
    expect([...failures]).toEqual([
      [
        'close: ends writes under way, and each error is right about what became of its write',
        expect.stringContaining('A change that failed surely was made'),
      ],
    ]);
  });

  it('finds a store whose pages and many keys are empty during an outage', async () => {
    const shelf = new Shelf();
    const beEmpty = ({ records }: Driver) => {
      const { page, readMany } = records;
      const orEmpty =
        <T>(empty: T) =>
        (error: Error) => {
          if (shelf.isReachable) throw error;
          return empty;
        };
      records.page = (...args) => page(...args).catch(orEmpty({ texts: new Map<string, string>() }));
      records.readMany = (keys) => readMany(keys).catch(orEmpty(new Map<string, string>()));
    };
    const { failures } = await failuresOf({ shelf, change: beEmpty });
    expect([...failures.keys()]).toEqual([
      'an outage: makes readMany of records fail with a StoreUnavailableError',
      'an outage: makes page fail with a StoreUnavailableError',
    ]);
  });

  it('finds a store that removes a text although another one was expected', async () => {
    const shelf = new Shelf();
    const compareAndSet = shelf.compareAndSet.bind(shelf);
    shelf.compareAndSet = (table, key, expected, next, hint) =>
      compareAndSet(table, key, next === undefined ? shelf.tables[table].get(key) : expected, next, hint);
    const { failures } = await failuresOf({ shelf, lacks: UNCUT });
    expect([...failures.keys()]).toEqual(
      expect.arrayContaining([
        'compare-and-set of tasks: removes nothing when another text was expected, or there is none',
        'compare-and-set of groups: lets exactly one of many concurrent writers remove a text',
      ]),
    );
  });

  it('finds a store that adds no hint with the write of a task', async () => {
    const shelf = new Shelf();
    const compareAndSet = shelf.compareAndSet.bind(shelf);
    shelf.compareAndSet = (table, key, expected, next) => compareAndSet(table, key, expected, next);
    // The contract waits 20 s for each hint that never comes.
    const clocks = hurryClocks(20);
    const { failures } = await failuresOf({ shelf, lacks: UNCUT });
    for (const clock of clocks) clock.mockRestore();
    expect([...failures.keys()]).toEqual(
      expect.arrayContaining([
        `${WITH_WRITE}: is at the end of its queue after a write that was made: the text itself, or another one`,
        `${WITH_WRITE}: is there for each of many writes that come at once, if that one was made`,
      ]),
    );
  });

  it('finds a store that adds the hint of a write that it refused', async () => {
    const shelf = new Shelf();
    const compareAndSet = shelf.compareAndSet.bind(shelf);
    shelf.compareAndSet = (table, key, expected, next, hint) => {
      if (hint) shelf.offer(hint.queue, [hint.hint]);
      return compareAndSet(table, key, expected, next);
    };
    const { failures } = await failuresOf({ shelf, lacks: UNCUT });
    expect([...failures.keys()]).toEqual([
      `${WITH_WRITE}: is not there after a write that was refused`,
      `${WITH_WRITE}: is there for each of many writes that come at once, if that one was made`,
    ]);
  });

  it('finds a store whose polls do not end when their signals abort', async () => {
    const change = (store: Driver) => {
      const queue = store.queue.bind(store);
      store.queue = (name) => {
        const hints = queue(name);
        const poll = hints.poll.bind(hints);
        const never = new AbortController().signal;
        hints.poll = (patience, signal) => poll(Math.min(patience, 4000), signal.aborted ? signal : never);
        return hints;
      };
    };
    const { failures } = await failuresOf({ change, lacks: UNCUT });
    expect([...failures.keys()]).toEqual([
      'a poll: ends when its signal aborts',
      'a poll: whose signal aborted leaves later hints to others',
      'a poll: delays no other call of its client, however many wait',
    ]);
  });

  it('wants the reason for an outage that can not be made', async () => {
    const clocks = hurryClocks(20); // a change that never comes is awaited for 20 s
    const { failures } = await failuresOf({ isWhole: false });
    for (const clock of clocks) clock.mockRestore();
    const later = 'a later write fail, and its error is right about what became of it';
    expect(failures.get(`an outage: makes ${later}`)).toContain("lacks: { outage: 'the reason' }");
  });

  it('prints the reason for each lack, also among the tests', async () => {
    const { tests } = await failuresOf({ lacks: UNCUT });
    const printed = print.mock.calls.map(([line]) => String(line));
    expect(printed).toEqual([expect.stringContaining('Not tested: outage.')]);
    expect(tests.names.filter((name) => name.includes('lacks by declaration: not the point'))).toHaveLength(1);
  });

  it('refuses a lack that the store does not have', async () => {
    const { failures } = await failuresOf({ lacks: UNCUT, isWhole: true });
    expect([...failures.values()]).toEqual(['The store has outage: remove it from `lacks`']);
  });
});
