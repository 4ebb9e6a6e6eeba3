import { apiBase } from '../api/base.js';
import { token } from '../api/token.js';
import { type Asked, type Asking, type Given, answerOn } from './messages.js';

/** ms for the start of the broker and the answer. The sign-in appears only then, if no other tab answers. */
const PATIENCE = 1500;
/** The folder of this console's own scripts. */
const ASSETS = new URL('../assets/', apiBase).href;

/**
 * Asks the other open tabs of this console for their token.
 *
 * @returns undefined if no tab gives one in time, or if this browser has no service workers for this page: they need
 *   HTTPS or localhost
 */
export async function tokenOfOtherTab(): Promise<string | undefined> {
  const deadline = AbortSignal.timeout(PATIENCE);
  const late = new Promise<undefined>((resolve) =>
    deadline.addEventListener('abort', () => resolve(undefined), { once: true }),
  );
  return Promise.race([asked(), late]);
}

async function asked(): Promise<Given> {
  const broker = await activeBroker();
  if (!broker) return undefined;
  const { port1, port2 } = new MessageChannel();
  broker.postMessage({ kind: 'ask' } satisfies Asking, [port2]);
  return answerOn(port1);
}

/** Answers the broker from now on. A page of the application may have a service worker, too: only ours gets a token. */
export function answerOtherTabs(): void {
  if (!('serviceWorker' in navigator)) return;
  navigator.serviceWorker.addEventListener('message', ({ data, source, ports }: MessageEvent<Asked>) => {
    const isOurs = source instanceof ServiceWorker && source.scriptURL.startsWith(ASSETS);
    if (isOurs && data.kind === 'asked') ports[0]?.postMessage(token.get());
  });
  navigator.serviceWorker.startMessages();
}

async function activeBroker(): Promise<ServiceWorker | undefined> {
  if (!('serviceWorker' in navigator)) return undefined;
  const script = document.getElementById('console')!.dataset['broker']!;
  try {
    const { active, installing, waiting } = await navigator.serviceWorker.register(script);
    return active ?? (await activated(installing ?? waiting!));
  } catch (error) {
    // A private window, or a setting of the browser. The user signs in, as if no other tab were open.
    console.info('Other tabs can’t be asked for their sign-in:', error);
    return undefined;
  }
}

function activated(worker: ServiceWorker): Promise<ServiceWorker> {
  return new Promise((resolve) => {
    const look = () => worker.state === 'activated' && resolve(worker);
    worker.addEventListener('statechange', look);
    look();
  });
}
