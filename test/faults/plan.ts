import type { Fault } from './fault.js';
import { FAULTS, faultNamed } from './faults.js';
import type { Lacks } from './needs.js';
import type { SiteOptions } from './site.js';
import { type StoreName, STORES } from './stores.js';

export interface Wanted {
  /** All of them unless given. */
  readonly faults?: readonly string[] | undefined;
  /** All of them unless given. */
  readonly stores?: readonly string[] | undefined;
}

/** Faults that are injected into one site, one after the other. */
export interface Leg {
  readonly site: Pick<SiteOptions, 'store' | 'quorum' | 'memberClock'>;
  readonly faults: Fault[];
}

/** The faults to run, and those that this machine cannot run, each with a line that says why. */
export interface Plan {
  readonly legs: readonly Leg[];
  readonly skipped: readonly string[];
}

/**
 * Every fault on the optimistic store, and a chosen set on the others, unless faults are named: then each of those on
 * each of the stores.
 *
 * @throws for an unknown fault or store
 */
export function planOf({ faults, stores }: Wanted, lacks: Lacks): Plan {
  const wanted = faults ? faults.map(faultNamed) : FAULTS;
  const legs = new Map<string, Leg>();
  const skipped: string[] = [];
  for (const store of (stores ?? Object.keys(STORES)).map(storeNamed)) {
    for (const fault of wanted) {
      if (!faults && store !== 'optimistic' && !fault.alsoOn.includes(store)) continue;
      const lack = fault.needs.flatMap((need) => lacks[need] ?? []);
      if (lack.length > 0) {
        skipped.push(`${store} ${fault.name}: ${lack.join('; ')}`);
        continue;
      }
      const site = { store, quorum: true, memberClock: false, ...fault.site };
      const key = JSON.stringify(site);
      const leg = legs.get(key) ?? { site, faults: [] };
      leg.faults.push(fault);
      legs.set(key, leg);
    }
  }
  return { legs: [...legs.values()], skipped };
}

function storeNamed(name: string): StoreName {
  if (name in STORES) return name as StoreName;
  throw new Error(`--store ${JSON.stringify(name)}: there is none; choose of ${Object.keys(STORES).join(', ')}`);
}
