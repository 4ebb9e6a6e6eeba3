import { Subject } from 'rxjs';
import { ClusterClock } from '../core/clock/index.js';
import { Timers } from '../core/async/timers.js';
import type { Context } from '../core/context/context.js';
import type { GatekeeperEvent } from '../core/context/events.js';
import { Store, type OnCall } from '../core/store/store.js';
import type { GatekeeperSettings } from './gatekeeper-options.js';
import { Reachability } from '../core/context/reachability.js';
import { Recoveries } from '../core/context/recoveries.js';

/** Creates the objects that all parts of one gatekeeper share. Opens nothing: the store is opened with its first use. */
export function createContext(
  { store: definition, clockTolerance, callTimeout, strictStart }: GatekeeperSettings,
  given: Pick<Context, 'node' | 'nodeClock' | 'random' | 'isClosing' | 'grantFault' | 'instrumentation'>,
): Context {
  const { node, nodeClock, instrumentation } = given;
  const events = new Subject<GatekeeperEvent>();
  const onCall: OnCall | undefined = instrumentation && ((...call) => instrumentation.storeCall(...call));
  const onUnproven = (count: number) =>
    events.next({ type: 'problem', action: 'listen to other nodes', error: unproven(count) });
  const open = () => definition.open({ writer: node.instance, callTimeout, onUnproven });
  const timers = new Timers(nodeClock);
  const store = new Store({ open, timers, callTimeout, onCall });
  const clocks = {
    now: () => store.now(),
    members: () => store.health().members,
  };
  const clusterClock = new ClusterClock(clocks, nodeClock, {
    tolerance: clockTolerance,
    strictStart,
    onSuspect: (reason) => events.next({ type: 'clock-suspect', reason }),
  });
  return {
    ...given,
    timing: { clockTolerance, callTimeout, strictStart },
    store,
    timers,
    clusterClock,
    events,
    changes: new Subject<string>(),
    reachability: new Reachability(events, nodeClock, callTimeout),
    recoveries: new Recoveries(nodeClock),
  };
}

function unproven(count: number): Error {
  return new Error(
    `${count} messages had no seal of this cluster, and were only taken for a reason to read: another program sends to the ` +
      'channels of the store, or its hint key was replaced. See "Who can read and write" in docs/guarantees.md',
  );
}
