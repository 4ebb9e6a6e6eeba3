import { z } from 'zod';
import {
  type View,
  decodeStored,
  lacksWrites,
  storedCount,
  storedList,
  storedText,
  storedTime,
} from '../../core/decision/index.js';
import type { RecordCodec, StoredRecord } from '../../core/cell/record-codec.js';
import { ALLOCATION_PREFIX } from '../group-options.js';
import { LONGEST_ID } from '../resource-id.js';

/**
 * The orders of operators for one group. They name nodes by their names, so they outlast a restart.
 *
 *     { "v": 1, "nonce": "3w5e.1f", "seq": 3, "at": 1790000000000,
 *       "pins": [["orders-eu", "app-2"]], "drained": ["app-7"], "asked": 2, "confirmed": { "asked": 2, "left": 3 } }
 */
export interface OrdersRecord extends StoredRecord {
  readonly v: typeof ORDERS_VERSION;
  /** Resource and node. */
  readonly pins: readonly (readonly [resource: string, node: string])[];
  /** Nodes that must own nothing. */
  readonly drained: readonly string[];
  /** Grows when a node asks for a look at the resources. */
  readonly asked: number;
  /** The last set in doubt that an operator confirmed. */
  readonly confirmed?: Confirmation;
}

/** Lets a set count that lacks most of the known resources. */
export interface Confirmation {
  /** The value of `asked` with this confirmation: the first reading after it counts. */
  readonly asked: number;
  /** Number of known resources that the confirmed set still had. A reading with fewer does not count. */
  readonly left: number;
}

const ORDERS_VERSION = 1;
/** Every node reads all orders of its groups with each heartbeat. */
export const MOST_PINS = 1000;
export const MOST_DRAINED = 1000;

const ordersSchema = z.strictObject({
  v: z.literal(ORDERS_VERSION),
  nonce: z.string().min(1),
  seq: storedCount,
  at: storedTime,
  pins: storedList(z.tuple([z.string().min(1).max(LONGEST_ID), storedText]), MOST_PINS),
  drained: storedList(storedText, MOST_DRAINED),
  asked: storedCount,
  confirmed: z.strictObject({ asked: storedCount, left: storedCount }).optional(),
});

const NO_ORDERS: OrdersRecord = { v: ORDERS_VERSION, nonce: '', seq: 0, at: 0, pins: [], drained: [], asked: 0 };

/** The storage format of the orders, and the rules for lost data: the copy with the most writes counts. */
export const ORDERS: RecordCodec<OrdersRecord> = {
  kind: 'orders of allocation group',
  keyPrefix: `${ALLOCATION_PREFIX}orders:`,
  decode: (name, text) => decodeStored(ordersSchema, ORDERS_VERSION, `the orders of allocation group ${name}`, text),
  encode: (orders) => JSON.stringify(orders),
  isBehind: lacksWrites,
  restore: (known, found, view, nonce) =>
    nextOrders({ ...known, seq: Math.max(known.seq, found?.seq ?? 0) }, {}, view, nonce),
  rewrite: (orders, view, nonce) => nextOrders(orders, {}, view, nonce),
  leases: () => [],
};

/** The orders after a change. */
export function nextOrders(
  orders: OrdersRecord = NO_ORDERS,
  changes: Partial<Pick<OrdersRecord, 'pins' | 'drained' | 'asked' | 'confirmed'>>,
  view: View,
  nonce: string,
): OrdersRecord {
  return { ...orders, ...changes, nonce, seq: orders.seq + 1, at: view.now };
}
