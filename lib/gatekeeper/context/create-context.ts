import { Subject } from 'rxjs';
import { ClusterClock } from '../../clock/index.js';
import { Alarm } from './alarm.js';
import type { Context } from './context.js';
import { answerWithin } from './deadline.js';
import type { GatekeeperEvent } from './events.js';
import { HealthCheck } from '../health/health-check.js';
import { ObservedStore } from '../health/observed-store.js';
import type { GatekeeperSettings } from '../options/gatekeeper-options.js';
import { Reachability } from './reachability.js';

/** Opens the store and makes what all parts of one gatekeeper share. */
export function createContext(
  { store: definition, clockTolerance, callTimeout, strictStart }: GatekeeperSettings,
  given: Pick<Context, 'node' | 'nodeClock' | 'random' | 'isClosing'>,
): Context {
  const { node, nodeClock, random, isClosing } = given;
  const events = new Subject<GatekeeperEvent>();
  const store = new ObservedStore(definition.open({ writer: node.instance, callTimeout }), nodeClock);
  const alarm = new Alarm(nodeClock);
  // Also the clock's readings end: one that hung would hold up all that wait for it.
  const clocks = {
    now: () => answerWithin(alarm, callTimeout, 'tell its time', () => store.now()),
    members: () => store.health().members,
  };
  const clusterClock = new ClusterClock(clocks, nodeClock, {
    tolerance: clockTolerance,
    strictStart,
    onSuspect: (reason) => events.next({ type: 'clock-suspect', reason }),
  });
  const context = {
    node,
    nodeClock,
    random,
    isClosing,
    timing: { clockTolerance, callTimeout, strictStart },
    store,
    alarm,
    clusterClock,
    events,
    news: new Subject<string>(),
    reachability: new Reachability(events, nodeClock, callTimeout),
  };
  return { ...context, health: new HealthCheck(context) };
}
