import { NoQuorumError, type StoreDefinition, StoreUnavailableError, memory } from 'nestjs-gatekeeper';
import { ScriptedStore } from '../support/scripted-store.js';

/** A store that the test takes away, and gives back. */
export function failingStore() {
  const opened: ScriptedStore[] = [];
  const inner = memory();
  const definition: StoreDefinition = {
    kind: 'failing',
    // No other process writes to it: nothing waits for the birth of a cluster.
    isOwn: true,
    open: (options) => {
      const store = new ScriptedStore(inner.open(options));
      opened.push(store);
      return store;
    },
  };
  const change = (changes: Partial<Pick<ScriptedStore, 'script' | 'report'>>) => {
    for (const store of opened) Object.assign(store, { script: undefined, report: undefined, ...changes });
  };
  return {
    definition,
    takeAway: () =>
      change({
        script: () => Promise.reject(new StoreUnavailableError('Not connected: the connection was lost')),
        report: { connected: false, members: 0, quorum: 0, problem: 'the connection was lost' },
      }),
    loseQuorum: () =>
      change({
        script: (call, go) =>
          call === 'compareAndSet' ? Promise.reject(new NoQuorumError('1 of at least 2 members are there')) : go(),
        report: { connected: true, members: 1, quorum: 2 },
      }),
    seeMembers: (members: number, expected: number) =>
      change({ report: { connected: true, members, expected, quorum: 2 } }),
    giveBack: () => change({}),
  };
}
