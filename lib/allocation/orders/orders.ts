import type { Context } from '../../context/context.js';
import { InvalidOptionsError, faultsOf, nameSchema, show } from '../../decision/index.js';
import { RecordClient } from '../../records/record-client.js';
import { faultOfId } from '../resources/resource-id.js';
import type { AllocationOrders } from '../round/round.js';
import { MOST_DRAINED, MOST_PINS, ORDERS, type OrdersRecord, nextOrders } from './orders-record.js';

type Change = Partial<Pick<OrdersRecord, 'pins' | 'drained' | 'asked'>>;

/** The orders of operators for one group, as this node knows them. */
export class Orders {
  readonly client: RecordClient<OrdersRecord>;

  /** @param onChange called after each change by any node that this node notices */
  constructor(
    private readonly group: string,
    context: Context,
    onChange: () => void,
  ) {
    this.client = new RecordClient(encodeURIComponent(group), ORDERS, context);
    const semaphore = this.client.key;
    this.client.listen({
      changed: onChange,
      restored: ({ seq: revision }) => context.events.next({ type: 'restored', semaphore, revision }),
      unreadable: (error) => context.events.next({ type: 'record-unreadable', semaphore, error }),
    });
  }

  /** The orders as the leader's round takes them. */
  get current(): AllocationOrders {
    const { pins = [], drained = [] } = this.client.known ?? {};
    return { pins: new Map(pins), drained: new Set(drained) };
  }

  /** Grows with each change. */
  get revision(): number {
    return this.client.known?.seq ?? 0;
  }

  /** Number of requests to look at the resources. */
  get asked(): number {
    return this.client.known?.asked ?? 0;
  }

  /** Takes over the text that the store has. @throws StoreUnavailableError, CorruptRecordError, NewerRecordError */
  async takeIn(text: string | undefined): Promise<void> {
    const { client } = this;
    if (text === undefined ? client.known !== undefined : !client.observe(text)) await client.look();
  }

  /* Each order resolves to whether it changed the orders. */

  /** @throws InvalidOptionsError */
  pin(resource: string, node: string): Promise<boolean> {
    const fault = faultOfId(resource);
    if (fault !== undefined)
      throw new InvalidOptionsError(`a pin in group ${show(this.group)}`, [`resource: ${fault}`]);
    this.#expectNode(node);
    return this.#change(({ pins }) => {
      if (pins.some(([id, pinnedTo]) => id === resource && pinnedTo === node)) return undefined;
      const others = pins.filter(([id]) => id !== resource);
      if (others.length < MOST_PINS) return { pins: [...others, [resource, node]] };
      throw this.#tooMany('pins', MOST_PINS);
    });
  }

  unpin(resource: string): Promise<boolean> {
    return this.#change(({ pins }) => {
      const others = pins.filter(([id]) => id !== resource);
      return others.length < pins.length ? { pins: others } : undefined;
    });
  }

  /** @throws InvalidOptionsError */
  drain(node: string): Promise<boolean> {
    this.#expectNode(node);
    return this.#change(({ drained }) => {
      if (drained.includes(node)) return undefined;
      if (drained.length < MOST_DRAINED) return { drained: [...drained, node] };
      throw this.#tooMany('drained nodes', MOST_DRAINED);
    });
  }

  undrain(node: string): Promise<boolean> {
    return this.#change(({ drained }) =>
      drained.includes(node) ? { drained: drained.filter((each) => each !== node) } : undefined,
    );
  }

  /** Asks the leader to look at the resources now. */
  ask(): Promise<boolean> {
    return this.#change(({ asked }) => ({ asked: asked + 1 }));
  }

  #change(
    changeOf: (orders: Pick<OrdersRecord, 'pins' | 'drained' | 'asked'>) => Change | undefined,
  ): Promise<boolean> {
    const changeIn = (orders: OrdersRecord | undefined) => changeOf(orders ?? { pins: [], drained: [], asked: 0 });
    return this.client.transact<boolean>((orders, view, nonce) => {
      const change = changeIn(orders);
      if (!change) return { result: false };
      // A write whose answer was lost, and which another one has replaced: what it wanted is in force.
      const isDoneIn = (later: OrdersRecord | undefined, isUncertain: boolean) => isUncertain && !changeIn(later);
      return { write: nextOrders(orders, change, view, nonce), done: () => true, isDoneIn };
    });
  }

  #expectNode(node: unknown): void {
    const { error } = nameSchema.safeParse(node);
    if (error)
      throw new InvalidOptionsError(
        `an order of group ${show(this.group)}`,
        faultsOf(error).map((fault) => `node: ${fault}`),
      );
  }

  #tooMany(what: string, most: number): InvalidOptionsError {
    return new InvalidOptionsError(`the orders of group ${show(this.group)}`, [
      `more than ${most} ${what}: take one back first`,
    ]);
  }
}
