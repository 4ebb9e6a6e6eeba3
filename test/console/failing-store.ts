import { NoQuorumError, type StoreDefinition, StoreUnavailableError } from 'nestjs-gatekeeper';
import { ScriptedStore } from '../support/scripted-store.js';
import { losingTasks } from './losing-tasks.js';

/** Why a store that was taken away gives no answer, and what one without a quorum answers to a write. */
export const LOST = 'the connection was lost';
export const TOO_FEW = '1 of at least 2 members are there';

type Changes = Partial<Pick<ScriptedStore, 'script' | 'report'>>;

/** A store that the test takes away, and gives back: also from nodes that open it meanwhile. */
export function failingStore() {
  const opened: ScriptedStore[] = [];
  const { store: inner, takeAway: loseTasks, giveBack: findTasks } = losingTasks();
  let changes: Changes = {};
  const definition: StoreDefinition = {
    kind: 'failing',
    // No other process writes to it: nothing waits for the birth of a cluster.
    isOwn: true,
    open: (options) => {
      const store = Object.assign(new ScriptedStore(inner.open(options)), changes);
      opened.push(store);
      return store;
    },
  };
  const change = (next: Changes) => {
    changes = next;
    for (const store of opened) Object.assign(store, { script: undefined, report: undefined, ...changes });
  };
  return {
    definition,
    takeAway: (failure: Error = new StoreUnavailableError(`Not connected: ${LOST}`)) => {
      loseTasks();
      change({
        script: () => Promise.reject(failure),
        report: { connected: false, members: 0, quorum: 0, problem: LOST },
      });
    },
    loseQuorum: () =>
      change({
        script: (call, go) => (call === 'compareAndSet' ? Promise.reject(new NoQuorumError(TOO_FEW)) : go()),
        report: { connected: true, members: 1, quorum: 2 },
      }),
    seeMembers: (members: number, expected: number) =>
      change({ report: { connected: true, members, expected, quorum: 2 } }),
    giveBack: () => {
      findTasks();
      change({});
    },
  };
}
