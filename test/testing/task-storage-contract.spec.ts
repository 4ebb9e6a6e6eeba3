import { setImmediate as hop } from 'node:timers/promises';
import { describe, expect, it, jest } from '@jest/globals';
import { type RecordStore, StoreUnavailableError, UnknownOutcomeError, memory } from 'nestjs-gatekeeper';
import { type TaskClientsUnderTest, describeTaskStorageContract } from '../../lib/testing/contract/index.js';
import { CollectedTests } from './collected-tests.js';

const WRITES = ['create', 'replace', 'remove'] as const;
const READS = ['read', 'readMany', 'range'] as const;

/** A memory() behind a network that can be down. */
class Network {
  isReachable = true;

  /** @param LostAnswer error of a change whose answer was lost */
  constructor(private readonly LostAnswer: new (message: string) => Error = UnknownOutcomeError) {}

  /** Puts the network between a store and its callers. */
  between(store: RecordStore): RecordStore {
    const { tasks, groups, queue } = store.tasks!;
    for (const texts of [tasks, groups] as Record<string, any>[]) {
      for (const method of WRITES) texts[method] = this.#request(texts[method].bind(texts), this.LostAnswer);
      for (const method of READS.filter((each) => texts[each]))
        texts[method] = this.#request(texts[method].bind(texts), StoreUnavailableError);
    }
    store.tasks!.queue = (name) => {
      const hints = queue.call(store.tasks, name);
      for (const method of ['peek', 'size'] as const)
        hints[method] = this.#request(hints[method].bind(hints) as never, StoreUnavailableError) as never;
      return hints;
    };
    return store;
  }

  #request<Args extends unknown[], T>(
    work: (...args: Args) => Promise<T>,
    LostAnswer: new (message: string) => Error,
  ): (...args: Args) => Promise<T> {
    return async (...args) => {
      if (!this.isReachable) throw new StoreUnavailableError('not sent');
      await hop();
      const answer = await work(...args);
      await hop();
      if (!this.isReachable) throw new LostAnswer('no answer');
      return answer;
    };
  }
}

interface Trial {
  readonly network?: Network;
  /** Changes each opened store. */
  readonly change?: (store: RecordStore) => void;
  /** Whether the contract can cut the clients off. */
  readonly isCut?: boolean;
}

/** Runs the contract on a memory(). @returns failures by the name of the test, without the first group */
async function failuresOf({ network = new Network(), change = () => undefined, isCut = true }: Trial = {}) {
  const tests = new CollectedTests();
  const store = memory();
  const outage = {
    begin: async () => void (network.isReachable = false),
    end: async () => void (network.isReachable = true),
  };
  const open: TaskClientsUnderTest['open'] = (options) => {
    const opened = network.between(store.open(options));
    change(opened);
    return opened;
  };
  const prepare = () => ({ open, stop: async () => undefined, ...(isCut && { outage }) });
  describeTaskStorageContract({ name: 'it', runner: tests.runner, prepare });
  const failures = await tests.run();
  return [...failures.keys()].map((name) => name.split(' › ').slice(1).join(': '));
}

describe('The contract of the storage of tasks', () => {
  it('has no objection to a right one', async () => {
    expect(await failuresOf()).toEqual([]);
  });

  it('finds one that is sure of changes whose answer was lost', async () => {
    const end = 'and each error is right about what became of its change';
    expect(await failuresOf({ network: new Network(StoreUnavailableError) })).toEqual([
      `an outage: breaks off many changes of tasks, ${end}`,
      `an outage: breaks off many changes of groups, ${end}`,
    ]);
  });

  it('finds one whose keys are compared without regard to case', async () => {
    const change = (store: RecordStore) => {
      const { groups } = store.tasks!;
      const { read, create } = { read: groups.read.bind(groups), create: groups.create.bind(groups) };
      groups.read = (key) => read(key.toLowerCase());
      groups.create = (key, text) => create(key.toLowerCase(), text);
    };
    expect(await failuresOf({ change })).toEqual(['the texts of groups: keeps texts apart whose keys look alike']);
  });

  it('says that errors are not tested if it can not cut the clients off', async () => {
    const print = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    expect(await failuresOf({ isCut: false })).toEqual([]);
    const printed = print.mock.calls.map(([line]) => String(line)).filter((line) => line.startsWith('Not tested'));
    print.mockRestore();
    expect(printed).toEqual([expect.stringContaining('Give `outage` in `prepare`')]);
  });
});
