import { signal } from '@preact/signals';
import { pathOf } from '../api/call.js';
import { type StreamedEvent, listen } from '../api/event-stream.js';

/** `live`: the stream reports changes. `polling`: the stream is cut, and pages load every few seconds. */
export type Connection = 'connecting' | 'live' | 'polling';
export const connection = signal<Connection>('connecting');
/** Whether the last call reached no node. */
export const isUnreachable = signal(false);

/** ms */
const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 30_000;

type Listener = (event: StreamedEvent) => void;
const listeners = new Set<Listener>();

/** Calls `listener` at each event of the stream. @returns a function that ends this */
export function subscribe(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Keeps the event stream open, with growing pauses between attempts. @returns a function that closes it */
export function connect(): () => void {
  const controller = new AbortController();
  void keepListening(controller.signal);
  return () => {
    controller.abort();
    connection.value = 'connecting';
  };
}

async function keepListening(signal: AbortSignal): Promise<void> {
  let pause = FIRST_PAUSE;
  const opened = () => {
    pause = FIRST_PAUSE;
    connection.value = 'live';
    // The page missed the events while it was disconnected, so everything may have changed.
    tell({ event: 'connected', data: '{}' });
  };
  while (!signal.aborted) {
    // An error is shown as any other end of the stream: the state `polling`.
    await listen(pathOf('events'), signal, opened, tell).catch(() => undefined);
    if (signal.aborted) return;
    connection.value = 'polling';
    // Perhaps the node is gone.
    tell({ event: 'cut', data: '{}' });
    // Jitter spreads the reconnects of many browsers.
    await sleep(pause * (0.75 + Math.random() / 2), signal);
    pause = Math.min(LONGEST_PAUSE, pause * 2);
  }
}

function tell(event: StreamedEvent): void {
  for (const listener of listeners) listener(event);
}

function sleep(delay: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', wake);
      resolve();
    };
    const timer = setTimeout(wake, delay);
    signal.addEventListener('abort', wake);
  });
}
