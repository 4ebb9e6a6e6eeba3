import type { NodeInfo, Driver } from 'nestjs-gatekeeper';

const HOUR = 3_600_000;

/** Cards of nodes that are not there: for lists of many. They stay alive for as long as a test may take. */
export function cardsOf(count: number, now: number, jobs: NodeInfo['jobs'] = []): NodeInfo[] {
  return Array.from({ length: count }, (_, index) => {
    const isAway = index % 5 === 4;
    return {
      group: isAway ? 'dr-site' : 'production',
      acquirer: `${isAway ? 'standby' : 'worker'}-${String(index + 1).padStart(2, '0')}`,
      instance: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
      host: `ip-10-0-${isAway ? 8 : 4}-${20 + index}`,
      pid: 4000 + 7 * index,
      version: index % 7 === 6 ? '4.18.0-rc.1' : '4.17.2',
      startedAt: now - (index + 1) * 17 * 60_000,
      at: now,
      heartbeat: HOUR,
      clock:
        index === 3 ? { offset: -1840, suspect: "a member's clock moved by 1840 ms" } : { offset: (index * 37) % 60 },
      jobs,
    };
  });
}

/** Puts cards where the registry looks for them. */
export async function publishCards(store: Driver, nodes: readonly NodeInfo[]): Promise<void> {
  await store.records.compareAndSet('nodes:crowd', undefined, JSON.stringify({ v: 1, nodes }));
}
