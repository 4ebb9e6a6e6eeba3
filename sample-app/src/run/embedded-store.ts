import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { GatekeeperModule, memory } from 'nestjs-gatekeeper';
import { SAMPLE_STORE_TOKEN } from '../environment.js';

@Module({
  imports: [
    GatekeeperModule.forRoot({
      store: memory(),
      // It only lends its store: it runs nothing itself and is none of the nodes.
      heartbeat: 0,
      console: { tokens: [{ token: SAMPLE_STORE_TOKEN, name: 'sample', role: 'node' }] },
    }),
  ],
})
class EmbeddedStoreModule {}

/** A store in the memory of this process, which the apps use over HTTP. */
export async function startEmbeddedStore() {
  const app = await NestFactory.create(EmbeddedStoreModule, { logger: ['warn', 'error', 'fatal'] });
  // The port is free to choose: the apps learn it from their environment.
  await app.listen(0, '127.0.0.1');
  const url = `${await app.getUrl()}/gatekeeper`;
  const variables = { STORE: 'embedded', STORE_URL: url };
  return {
    name: 'an embedded store',
    keepsTasks: false,
    variables,
    shownVariables: variables,
    lines: [`store    ${url}   in this runner`],
    [Symbol.asyncDispose]: () => app.close(),
  };
}
