import { Namespace } from './namespace.js';

/** Where one process runs. */
export interface Place {
  readonly name: string;
  readonly address: string;
  /** Put in front of its command. */
  readonly command: readonly string[];
}

/** The network of members and clients. */
export interface Network extends AsyncDisposable {
  place(name: string): Promise<Place>;
  /** Nothing goes between these places and all others any more; among one another they are connected. */
  part(places: readonly Place[]): Promise<void>;
  /** Drops everything that `place` sends; it still receives. */
  silence(place: Place): Promise<void>;
  /** Limits the bandwidth of `place` in both directions. */
  slow(place: Place): Promise<void>;
  /** Takes everything of the above back. */
  heal(): Promise<void>;
}

/** This machine's own network, which can't be cut. */
export class Loopback implements Network {
  async place(name: string): Promise<Place> {
    return { name, address: '127.0.0.1', command: [] };
  }

  async heal(): Promise<void> {}
  async [Symbol.asyncDispose](): Promise<void> {}

  part = () => this.#refuse();
  silence = () => this.#refuse();
  slow = () => this.#refuse();

  #refuse(): never {
    throw new Error("This machine's own network can't be cut: a fault that needs one must say so in `needs`");
  }
}

interface Port extends Place {
  readonly namespace: Namespace;
  readonly number: number;
}

/** An address without an owner: packets to it leave the sender as usual and reach no host. */
const NO_HOST = '02:00:00:00:00:fe';

/** A network namespace for each process, and one with two switches; each has its cable in one of them. */
export class CutNetwork implements Network {
  readonly #ports = new Map<string, Port>();
  #undo: (() => Promise<void>)[] = [];
  #next = 11;

  private constructor(private readonly switches: Namespace) {}

  static async open(): Promise<CutNetwork> {
    const switches = await Namespace.open();
    const bridge = (name: string) => [`link add ${name} type bridge`, `link set ${name} up`];
    await switches.ip(...bridge('main'), ...bridge('aside'));
    return new CutNetwork(switches);
  }

  async place(name: string): Promise<Place> {
    const known = this.#ports.get(name);
    if (known) return known;
    const number = this.#next++;
    const address = `10.77.0.${number}`;
    const namespace = await Namespace.open();
    const port = { name, address, number, namespace, command: namespace.command };
    this.#ports.set(name, port);
    await this.switches.ip(
      `link add port${number} type veth peer name cable netns ${namespace.id}`,
      `link set port${number} master main up`,
    );
    await namespace.ip(`addr add ${address}/24 dev cable`, 'link set cable up', 'link set lo up');
    return port;
  }

  async part(places: readonly Place[]): Promise<void> {
    const plug = (into: string) => places.map((place) => `link set port${this.#port(place).number} master ${into}`);
    this.#undo.push(() => this.switches.ip(...plug('main')));
    await this.switches.ip(...plug('aside'));
  }

  async silence(place: Place): Promise<void> {
    const { namespace } = this.#port(place);
    const others = [...this.#ports.values()].filter(({ name }) => name !== place.name);
    this.#undo.push(() => namespace.ip(...others.map(({ address }) => `neigh del ${address} dev cable`)));
    const misled = others.map(({ address }) => `neigh replace ${address} lladdr ${NO_HOST} nud permanent dev cable`);
    await namespace.ip(...misled);
  }

  async slow(place: Place): Promise<void> {
    const { namespace, number } = this.#port(place);
    const pipe = (device: string) => ['tc', 'qdisc', 'add', 'dev', device, 'root', 'tbf', ...THIN];
    const noPipe = (device: string) => ['tc', 'qdisc', 'del', 'dev', device, 'root'];
    this.#undo.push(async () => {
      await namespace.run(...noPipe('cable'));
      await this.switches.run(...noPipe(`port${number}`));
    });
    await namespace.run(...pipe('cable'));
    await this.switches.run(...pipe(`port${number}`));
  }

  async heal(): Promise<void> {
    for (const undo of this.#undo.splice(0).toReversed()) await undo();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#ports.values()].map(({ namespace }) => namespace[Symbol.asyncDispose]()));
    await this.switches[Symbol.asyncDispose]();
  }

  #port({ name }: Place): Port {
    return this.#ports.get(name)!;
  }
}

/** A packet of 1,500 bytes takes 60 ms, and no more than half a second of them is kept. */
const THIN = ['rate', '200kbit', 'burst', '3kb', 'latency', '500ms'];
