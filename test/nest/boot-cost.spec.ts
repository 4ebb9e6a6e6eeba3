import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { GatekeeperModule, memory } from 'nestjs-gatekeeper';

it('the boot looks at each method without decorators once, and not once per decorator', async () => {
  @Injectable()
  class Plain {
    first(): void {}
    second(): void {}
  }
  @Module({ imports: [GatekeeperModule.forRoot({ store: memory() })], providers: [Plain] })
  class App {}
  const [keys, metadata] = [jest.spyOn(Reflect, 'getMetadataKeys'), jest.spyOn(Reflect, 'getMetadata')];
  const app = await NestFactory.createApplicationContext(App, { logger: false });
  try {
    const methods: unknown[] = [Plain.prototype.first, Plain.prototype.second];
    const looks = keys.mock.calls.map(([target]) => target).filter((target) => methods.includes(target));
    expect(looks).toEqual(methods);
    // Nest itself looks for its own keys, which are texts.
    const ours = metadata.mock.calls.filter(([key, target]) => typeof key === 'symbol' && methods.includes(target));
    expect(ours).toEqual([]);
  } finally {
    await app.close();
    jest.restoreAllMocks();
  }
});
