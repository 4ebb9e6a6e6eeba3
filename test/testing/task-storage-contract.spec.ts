import { setImmediate as hop } from 'node:timers/promises';
import { type RecordStore, StoreUnavailableError, UnknownOutcomeError, memory } from 'nestjs-gatekeeper';
import { type TaskClientsUnderTest, describeTaskStorageContract } from '../../lib/testing/contract/index.js';
import { CollectedTests } from './collected-tests.js';

const WRITES = ['create', 'replace', 'remove'];
const READS = ['read', 'readMany', 'range', 'peek', 'size'];

type Call = (...args: never[]) => Promise<unknown>;
type NewError = new (message: string) => Error;

/** The network between a memory() and its callers, which can be down. */
class Network {
  isReachable = true;

  /** @param LostAnswer error of a change whose answer was lost */
  constructor(private readonly LostAnswer: NewError = UnknownOutcomeError) {}

  /** Puts the network between a store and its callers. */
  between(store: RecordStore): RecordStore {
    const tasks = store.tasks!;
    const queue = tasks.queue.bind(tasks);
    this.#between(tasks.tasks);
    this.#between(tasks.groups);
    tasks.queue = (name) => this.#between(queue(name));
    return store;
  }

  #between<T extends object>(part: T): T {
    const calls = part as Record<string, Call | undefined>;
    for (const method of [...WRITES, ...READS]) {
      const call = calls[method]?.bind(part);
      if (call) calls[method] = this.#request(call, READS.includes(method) ? StoreUnavailableError : this.LostAnswer);
    }
    return part;
  }

  #request(call: Call, LostAnswer: NewError): Call {
    return async (...args) => {
      if (!this.isReachable) throw new StoreUnavailableError('not sent');
      await hop();
      const answer = await call(...args);
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

  it('finds one whose polls do not end when their signals abort', async () => {
    const change = ({ tasks }: RecordStore) => {
      const queue = tasks!.queue.bind(tasks);
      tasks!.queue = (name) => {
        const hints = queue(name);
        const poll = hints.poll.bind(hints);
        const never = new AbortController().signal;
        hints.poll = (patience, signal) => poll(Math.min(patience, 4000), signal.aborted ? signal : never);
        return hints;
      };
    };
    expect(await failuresOf({ change })).toEqual([
      'a poll: ends when its signal aborts',
      'a poll: whose signal aborted leaves later hints to others',
      'a poll: delays no other call of its client, however many wait',
    ]);
  });

  it('says that errors are not tested if it can not cut the clients off', async () => {
    const print = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    expect(await failuresOf({ isCut: false })).toEqual([]);
    const printed = print.mock.calls.map(([line]) => String(line)).filter((line) => line.startsWith('Not tested'));
    print.mockRestore();
    expect(printed).toEqual([expect.stringContaining('Give `outage` in `prepare`')]);
  });
});
