import { setTimeout as pause } from 'node:timers/promises';
import { AcquireTimeoutError, GatekeeperError, GatekeeperService, type Permit } from 'nestjs-gatekeeper';
import { chances } from './chances.js';

/** Flows of manual work in one process, side by side. */
const FLOWS = 4;
const ROOMS = ['room-0', 'room-1', 'room-2'];
const MOST_PERMITS = 3;
const GIVE_UP = new Error('no longer wanted');

type Act = (holder: string) => Promise<unknown>;

/** Random direct calls of the service: waits, denials, and changes by operators. */
export class ManualWork {
  /** How often each thing happened. */
  readonly done: Record<string, number> = {};
  readonly #closing = new AbortController();
  #flows: Promise<void>[] = [];

  constructor(private readonly gatekeeper: GatekeeperService) {}

  start(): void {
    this.#flows = Array.from({ length: FLOWS }, (_, flow) => this.#flow(`flow-${flow}`));
  }

  async stop(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#flows);
  }

  count(what: string): void {
    this.done[what] = (this.done[what] ?? 0) + 1;
  }

  async #flow(holder: string): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await this.#act(holder);
      await pause(chances.whole(20, 150), undefined, { signal }).catch(() => undefined);
    }
  }

  /** The errors that the gatekeeper promises are part of the work; anything else is a fault and ends the process. */
  async #act(holder: string): Promise<void> {
    const [name, act] = chances.pick(this.#acts);
    try {
      await act(holder);
      this.count(name);
    } catch (error) {
      if (error === GIVE_UP || error instanceof AcquireTimeoutError) return this.count(`${name}: gave up`);
      if (!(error instanceof GatekeeperError)) throw error;
      this.count(`${name}: ${error.code}`);
    }
  }

  readonly #acts: readonly (readonly [string, Act])[] = [
    ['try', (holder) => this.#try(holder)],
    ['wait', (holder) => this.#wait(holder)],
    ['wait', (holder) => this.#wait(holder)],
    ['give up', (holder) => this.#giveUp(holder)],
    ['run', (holder) => this.#run(holder)],
    ['kept alive', (holder) => this.#keepAlive(holder)],
    ['forgotten', (holder) => this.gatekeeper.tryAcquire(chances.pick(ROOMS), { holder, duration: '2s' })],
    ['edit', () => this.#edit()],
    ['revoke', () => this.#revoke()],
    ['explain', () => this.gatekeeper.explain(chances.pick(ROOMS))],
  ];

  async #try(holder: string): Promise<void> {
    const permit = await this.gatekeeper.tryAcquire(chances.pick(ROOMS), { holder, duration: '2s' });
    this.count(permit ? 'tried and got' : 'tried and denied');
    if (permit) await this.#use(permit, 200);
  }

  async #wait(holder: string): Promise<void> {
    const signal = this.#closing.signal;
    const options = { holder, duration: '2s', timeout: chances.whole(50, 4000), signal };
    await this.#use(await this.gatekeeper.acquire(chances.pick(ROOMS), options).catch(givenUp(signal)), 100);
  }

  async #giveUp(holder: string): Promise<void> {
    const patience = new AbortController();
    const timer = setTimeout(() => patience.abort(GIVE_UP), chances.whole(0, 300));
    try {
      const options = { holder, duration: '2s', signal: patience.signal };
      await this.#use(await this.gatekeeper.acquire(chances.pick(ROOMS), options), 50);
    } finally {
      clearTimeout(timer);
    }
  }

  async #run(holder: string): Promise<void> {
    const isFailing = chances.happens(30);
    const work = async () => {
      await pause(chances.whole(0, 100));
      if (isFailing) throw GIVE_UP;
    };
    const options = {
      holder,
      duration: '2s',
      atLeastFor: chances.happens(20) ? undefined : 0,
      onSkip: () => this.count('run: skipped'),
    };
    await this.gatekeeper.run(chances.pick(ROOMS), work, options);
  }

  async #keepAlive(holder: string): Promise<void> {
    const permit = await this.gatekeeper.tryAcquire(chances.pick(ROOMS), { holder, duration: '2s', keepAlive: true });
    if (permit) await this.#use(permit, 5000);
  }

  /** Uses it for a while, with a listener on its signal, and gives it back twice. */
  async #use(permit: Permit, longest: number): Promise<void> {
    await pause(chances.whole(0, longest), undefined, { signal: permit.signal }).catch(() => undefined);
    const isRefreshed = await this.gatekeeper.refresh(permit).catch(() => false);
    this.count(isRefreshed ? 'refreshed' : 'not refreshed');
    await Promise.all([permit.release(), permit.release()]);
  }

  /** Also to none, which pauses it, and back. */
  async #edit(): Promise<void> {
    const { definitions } = this.gatekeeper;
    const room = chances.pick(ROOMS);
    const known = await definitions.get(room);
    if (!known) return;
    const permits = chances.happens(20) ? 0 : chances.whole(1, MOST_PERMITS);
    await definitions.edit(room, { permits }, { expectedRevision: known.revision });
  }

  async #revoke(): Promise<void> {
    const room = chances.pick(ROOMS);
    const { holders } = await this.gatekeeper.explain(room);
    const [permit] = holders;
    if (permit && chances.happens(50)) await this.gatekeeper.definitions.revoke(room, permit.id);
  }
}

/** Told apart from a fault: this process closes. */
function givenUp(signal: AbortSignal): (error: unknown) => never {
  return (error) => {
    throw signal.aborted && error === signal.reason ? GIVE_UP : error;
  };
}
