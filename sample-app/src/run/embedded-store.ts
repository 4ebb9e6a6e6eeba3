import { randomBytes } from 'node:crypto';
import { NestFactory } from '@nestjs/core';
import { GatekeeperModule, memory } from 'nestjs-gatekeeper';
import { FAULTS, ShortLog } from '../short-log.js';
import type { SharedStore } from './shared-store.js';

/**
 * A store in the memory of this process. An application that does nothing else serves it to the nodes, on a free port of
 * the loopback address, to those who know the token. It ends with this process, so no `kill -9` of a node harms it.
 */
export async function embeddedStore(): Promise<SharedStore> {
  const token = randomBytes(32).toString('hex');
  const module = GatekeeperModule.forRoot({
    store: memory(),
    // It is no node of the application, so consoles do not list it.
    heartbeat: 0,
    console: { tokens: [{ token, name: 'a node of the sample', role: 'node' }] },
  });
  // An error must reach the caller, which says it in one sentence; Nest would end the process.
  const app = await NestFactory.create(module, { logger: new ShortLog(FAULTS), abortOnError: false });
  await app.listen(0, '127.0.0.1');
  return {
    name: 'one store, in the memory of this process',
    variables: { STORE: 'remote', STORE_URL: `${await app.getUrl()}/gatekeeper`, STORE_TOKEN: token },
    lines: [],
    [Symbol.asyncDispose]: () => app.close(),
  };
}
