import type { Ports } from '../ports.js';
import { Controls } from './controls.js';
import { EmbeddedSample } from './embedded-sample.js';
import { isEnd, onKeys } from './keys.js';
import { introduction } from './texts.js';

/** Runs three nodes in this process until Ctrl-C. @param stop aborts then */
export async function runEmbedded(ports: Ports, stop: AbortController): Promise<void> {
  const write = (text: string) => void process.stdout.write(text);
  await using sample = await EmbeddedSample.start(ports, { write, variables: process.env });
  const controls = new Controls(sample, write);
  const endKeys = onKeys((key) => (isEnd(key) ? stop.abort() : void controls.press(key)));
  write(introduction(sample));
  await aborted(stop.signal);
  endKeys();
  write('\nThe nodes give their permits back and end ...\n');
}

function aborted(signal: AbortSignal): Promise<unknown> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
