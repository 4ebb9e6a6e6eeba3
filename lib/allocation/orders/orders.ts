import type { Context } from '../../core/context/context.js';
import { InvalidOptionsError, faultsOf, messageOf, nameSchema, show } from '../../core/decision/index.js';
import { isUnreadable } from '../../core/cell/known-record.js';
import { Cell } from '../../core/cell/cell.js';
import { faultOfId } from '../resource-id.js';
import type { AllocationOrders } from '../round/round.js';
import { type Confirmation, MOST_DRAINED, MOST_PINS, ORDERS, type OrdersRecord, nextOrders } from './orders-record.js';

type Change = Partial<Pick<OrdersRecord, 'pins' | 'drained' | 'asked' | 'confirmed'>>;

/** The orders of operators for one group, as this node knows them. */
export class Orders {
  readonly cell: Cell<OrdersRecord>;
  /** Whether this node has read that there are none. */
  #areNone = false;
  /** Why the text that the store had last can't be read. */
  #unreadable: Error | undefined;

  /** @param onChange called after each change by any node that this node notices, and when the first answer is there */
  constructor(
    private readonly group: string,
    context: Context,
    private readonly onChange: () => void,
  ) {
    this.cell = new Cell(encodeURIComponent(group), ORDERS, context);
    const semaphore = this.cell.key;
    this.cell.listen({
      changed: onChange,
      restored: ({ seq: revision }) => context.events.next({ type: 'restored', semaphore, revision }),
      unreadable: (error) => context.events.next({ type: 'record-unreadable', semaphore, error }),
    });
  }

  /** The orders as the leader's round takes them. */
  get current(): AllocationOrders {
    const { pins = [], drained = [] } = this.cell.known ?? {};
    return { pins: new Map(pins), drained: new Set(drained), areUnknown: !this.#areKnown };
  }

  get #areKnown(): boolean {
    return this.#areNone || this.cell.known !== undefined;
  }

  /** Whether the store was asked since this node started: before that, there may be orders that can be read. */
  get areAsked(): boolean {
    return this.#areKnown || this.#unreadable !== undefined;
  }

  /** Why the orders can't be read now, and which ones count, in a sentence. */
  get fault(): string | undefined {
    if (!this.#unreadable) return undefined;
    const effect = this.#areKnown
      ? 'the last orders that were read stay in force'
      : 'this node knows no pins and no drains';
    return `${effect}: ${messageOf(this.#unreadable)}`;
  }

  /** Grows with each change; -1 while they are unknown. */
  get revision(): number {
    return this.#areKnown ? (this.cell.known?.seq ?? 0) : -1;
  }

  /** Number of requests to look at the resources. */
  get asked(): number {
    return this.cell.known?.asked ?? 0;
  }

  /** The last set in doubt that an operator confirmed. */
  get confirmation(): Confirmation | undefined {
    return this.cell.known?.confirmed;
  }

  /** Takes over the text that the store has. If it can't be read, there is a {@link fault}. @throws StoreUnavailableError */
  async takeIn(text: string | undefined): Promise<void> {
    const before = [this.areAsked, this.revision];
    try {
      if (text === undefined ? this.cell.known !== undefined : !this.cell.observe(text)) await this.cell.look();
      this.#areNone ||= text === undefined;
      this.#unreadable = undefined;
    } catch (error) {
      // It must not stop the group.
      if (!isUnreadable(error)) throw error;
      this.#unreadable = error;
    }
    if ([this.areAsked, this.revision].join() !== before.join()) this.onChange();
  }

  /** Reads the orders if this node never could. @throws StoreUnavailableError, CorruptRecordError, NewerRecordError */
  async expectKnown(): Promise<void> {
    if (this.#areKnown) return;
    await this.cell.look();
    this.#areNone = this.cell.known === undefined;
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

  /** Asks the leader to look at the resources now, and to let them count if at least `left` known ones are among them. */
  confirm(left: number): Promise<boolean> {
    return this.#change(({ asked }) => ({ asked: asked + 1, confirmed: { asked: asked + 1, left } }));
  }

  #change(
    changeOf: (orders: Pick<OrdersRecord, 'pins' | 'drained' | 'asked'>) => Change | undefined,
  ): Promise<boolean> {
    const changeIn = (orders: OrdersRecord | undefined) => changeOf(orders ?? { pins: [], drained: [], asked: 0 });
    return this.cell.transact<boolean>((orders, view, nonce) => {
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
