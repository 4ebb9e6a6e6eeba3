/**
 * The service worker that hands the token of a signed-in tab to a new tab of the same console:
 *
 *     new tab         broker          open tabs
 *        |---- ask ----->|                |
 *        |               |---- asked ---->|
 *        |               |<--- token -----|
 *        |<--- token ----|                |
 *
 * It is the only way by which a page can prove where it was loaded from. The application may serve other pages from
 * the same origin, and a script in one of them could ask over a `BroadcastChannel`, too. Here the browser says which
 * URL the asking page was loaded from, and no script can change that. The broker keeps no token, and no request of a
 * page goes through it.
 */
import { type Asked, type Asking, type Given, answerOn } from './messages.js';

/** A page of this origin, as the browser describes it. TypeScript has no types for both windows and service workers. */
interface Client {
  readonly id: string;
  /** The URL that it was loaded from; `history.pushState` does not change it. */
  readonly url: string;
  /** "auxiliary": another page opened it and may still reach into it. */
  readonly frameType: 'auxiliary' | 'top-level' | 'nested' | 'none';
  postMessage(message: Asked, ports: readonly MessagePort[]): void;
}

interface Broker {
  readonly location: Location;
  readonly clients: {
    matchAll(options: { readonly type: 'window'; readonly includeUncontrolled: true }): Promise<readonly Client[]>;
  };
  addEventListener(type: 'message', listener: (event: MessageOfClient) => void): void;
}

interface MessageOfClient extends Pick<MessageEvent<Asking>, 'data' | 'ports'> {
  readonly source: Client | null;
  waitUntil(end: Promise<void>): void;
}

const broker = self as unknown as Broker;
/** The addresses of the page: this script is in its folder of assets. */
const PAGES: ReadonlySet<string> = new Set(
  ['../', '../index.html'].map((path) => new URL(path, broker.location.href).href),
);

broker.addEventListener('message', (event) => {
  const { source, ports } = event;
  const [port] = ports;
  if (event.data.kind !== 'ask' || !port || !source) return;
  event.waitUntil(tokenFor(source).then((token) => port.postMessage(token)));
});

/** The first token that another tab gives; undefined if no tab gives one, or the asking page is not the console. */
async function tokenFor(asking: Client): Promise<Given> {
  if (!isConsole(asking)) return undefined;
  const windows = await broker.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const others = windows.filter((other) => other.id !== asking.id && isConsole(other));
  return new Promise((resolve) => {
    const ask = async (other: Client) => {
      const token = await answerOf(other);
      if (token !== undefined) resolve(token);
    };
    void Promise.all(others.map(ask)).then(() => resolve(undefined));
  });
}

/** A tab that the browser has frozen gives no answer. The asking tab waits for a limited time. */
function answerOf(other: Client): Promise<Given> {
  const { port1, port2 } = new MessageChannel();
  other.postMessage({ kind: 'asked' }, [port2]);
  return answerOn(port1);
}

/** Whether this is a tab with the page of this console, and no other page holds a reference to its window. */
function isConsole({ url, frameType }: Client): boolean {
  const { origin, pathname } = new URL(url);
  return frameType === 'top-level' && PAGES.has(origin + pathname);
}
