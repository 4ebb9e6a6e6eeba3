import type { Fault } from './fault.js';
import { FAULTS, faultNamed } from './faults.js';
import type { Lacks } from './needs.js';
import type { SiteOptions } from './site.js';
import { type MemberStoreName, type ServerStoreName, type StoreName, STORES, isOnServer } from './stores.js';

export interface Wanted {
  /** All of them unless given. */
  readonly faults?: readonly string[] | undefined;
  /** All of them unless given. */
  readonly stores?: readonly string[] | undefined;
}

type MembersLeg = Pick<SiteOptions, 'quorum' | 'memberClock'> & { readonly store: MemberStoreName };

/** Faults that are injected into one site, one after the other. */
export interface Leg {
  readonly site: MembersLeg | { readonly store: ServerStoreName };
  readonly faults: Fault[];
}

/** The faults to run, and those that this machine cannot run, each with a line that says why. */
export interface Plan {
  readonly legs: readonly Leg[];
  readonly skipped: readonly string[];
}

/**
 * Every fault on the optimistic store and on each server, and a chosen set on the other stores, unless faults are named:
 * then each of those on each of the stores.
 *
 * @throws for an unknown fault or store
 */
export function planOf({ faults, stores }: Wanted, lacks: Lacks): Plan {
  const wanted = faults ? faults.map(faultNamed) : FAULTS;
  const legs = new Map<string, Leg>();
  const skipped: string[] = [];
  for (const store of (stores ?? STORES).map(storeNamed)) {
    for (const fault of wanted) {
      if (!faults && !isByDefault(fault, store)) continue;
      const lack = [
        ...misfitOf(fault, store),
        ...[...fault.needs, ...(isOnServer(store) ? [store] : [])].flatMap((need) => lacks[need] ?? []),
      ];
      if (lack.length > 0) {
        skipped.push(`${store} ${fault.name}: ${lack.join('; ')}`);
        continue;
      }
      const site = isOnServer(store) ? { store } : { store, quorum: true, memberClock: false, ...fault.site };
      // A server starts fast, and a grace of 15 minutes must not outlast the fault that caused it.
      const key = JSON.stringify(isOnServer(store) ? fault.name + store : site);
      const leg = legs.get(key) ?? { site, faults: [] };
      leg.faults.push(fault);
      legs.set(key, leg);
    }
  }
  return { legs: [...legs.values()], skipped };
}

function isByDefault({ alsoOn, onlyOn }: Fault, store: StoreName): boolean {
  if (isOnServer(store)) return true;
  return !onlyOn && (store === 'optimistic' || alsoOn.includes(store));
}

/** Why a fault can't be injected into a store. */
function misfitOf({ onlyOn, isOfStore, losesData, needs, site }: Fault, store: StoreName): string[] {
  if (onlyOn) return onlyOn.includes(store) ? [] : [`it is a fault of ${onlyOn.join(' and ')}`];
  if (!isOnServer(store)) return [];
  if (needs.includes('namespaces'))
    return ['a proxy cuts off the clients of one server: cut-connections, lose-answers'];
  if (site?.memberClock) return ['the clock of the server is the one of this machine, which all others use'];
  if (losesData) return ['the disk of the server stays: kill-server, and failover on Redis'];
  return isOfStore ? ['there is one server, no members: kill-server, freeze-server'] : [];
}

function storeNamed(name: string): StoreName {
  if ((STORES as readonly string[]).includes(name)) return name as StoreName;
  throw new Error(`--store ${JSON.stringify(name)}: there is none; choose of ${STORES.join(', ')}`);
}
