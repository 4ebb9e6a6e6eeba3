import { type Server, type Socket, connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

/** Passes connections on to a port that a test may change: one address for a primary, whichever server that is. */
export class SwitchableProxy implements AsyncDisposable {
  readonly #sockets = new Set<Socket>();
  readonly #vanished = new Set<Socket>();
  readonly #server: Server;
  #isSilent = false;
  #isRefusing = false;

  private constructor(public target: number) {
    this.#server = createServer((inner) => this.#pass(inner));
  }

  static async start(target: number): Promise<SwitchableProxy> {
    const proxy = new SwitchableProxy(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  /** Whether answers get lost: see {@link loseAnswers}. */
  get isSilent(): boolean {
    return this.#isSilent;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Breaks all connections. New ones go to `target`. */
  switchTo(target: number): void {
    this.target = target;
    this.cut();
  }

  /** Breaks all connections. */
  cut(): void {
    this.#isSilent = false;
    for (const socket of [...this.#sockets, ...this.#vanished]) socket.destroy();
  }

  /** Nothing passes over the present connections any more, not even their end, as if a machine lost its power. */
  vanish(): void {
    for (const socket of this.#sockets) this.#vanished.add(socket);
  }

  /** Breaks all connections, and refuses new ones until {@link accept}. */
  refuse(): void {
    this.#isRefusing = true;
    this.cut();
  }

  accept(): void {
    this.#isRefusing = false;
  }

  /** The answers of the server get lost from now on, until {@link cut}. */
  loseAnswers(): void {
    this.#isSilent = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.cut();
    await closed;
  }

  #pass(inner: Socket): void {
    if (this.#isRefusing) return void inner.destroy();
    const outer = connect(this.target, '127.0.0.1');
    for (const [one, other] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      this.#sockets.add(one);
      one.setNoDelay();
      one.on('error', () => undefined); // the other side closes, too
      one.on('data', (data) => {
        if (!this.#vanished.has(one) && !(one === outer && this.#isSilent)) other.write(data);
      });
      one.on('close', () => {
        this.#sockets.delete(one);
        if (!this.#vanished.delete(one)) other.destroy();
      });
    }
  }
}
