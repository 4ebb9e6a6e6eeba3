import type { Parts } from './build.js';

/** Not in the class, so that users of a gatekeeper see only public members. */
const partsByGatekeeper = new WeakMap<object, Parts>();
const standIns = new WeakSet<object>();

export function keepParts(gatekeeper: object, parts: Parts): void {
  partsByGatekeeper.set(gatekeeper, parts);
}

/** The parts of a gatekeeper, for `nest/`, `console/` and `testing/`. @throws Error for a mock, which has no parts */
export function partsOf(gatekeeper: object): Parts {
  const parts = partsByGatekeeper.get(gatekeeper);
  if (!parts) throw new Error('a mock in the place of the gatekeeper: use a TestGatekeeper or a real one');
  return parts;
}

export function isMock(gatekeeper: object): boolean {
  return !partsByGatekeeper.has(gatekeeper);
}

/** Marks a gatekeeper whose grants a test controls: guarded methods are not checked, and no store is opened. */
export function markAsStandIn(gatekeeper: object): void {
  standIns.add(gatekeeper);
}

/** Whether this is neither a mock nor a test's stand-in. */
export function isReal(gatekeeper: object): boolean {
  return !isMock(gatekeeper) && !standIns.has(gatekeeper);
}
