import { slotOf } from '../../../lib/allocation/map/page.js';
import type { MovementLimit } from '../../../lib/allocation/assign/movement-limit.js';
import type { AllocationOrders } from '../../../lib/allocation/round/round.js';
import type { RegistryPage } from '../../../lib/allocation/round/registry-watch.js';

export const ROOT_KEY = 'root';
export const LEADER_KEY = 'leader';
export const REGISTRY_PAGES = 2;

/** Key of a page in the store. */
export const pageSlot = (key: string) => `page:${slotOf(key)}`;

export const registryKey = (page: number) => `registry:${page}`;

/** A page of the registry as the store has it. */
export type RegistryText = RegistryPage & { readonly nonce: string };

/** The page in the store, or a new one. */
export function pageAt(text: string | undefined, id: () => string): RegistryText {
  if (text !== undefined) return JSON.parse(text) as RegistryText;
  return { born: id(), seq: 0, entries: [], ended: [], nonce: '' };
}

/** The permit of leadership: here it only spares work, so it may be as simple as this. */
export interface LeaderText {
  /** Empty: the last leader resigned. */
  readonly instance: string;
  readonly beat: number;
}

/** The resources, orders and limit of a schedule, the same for all its nodes. */
export interface Work {
  resources: readonly string[];
  orders: AllocationOrders;
  limit: MovementLimit;
}
