import type { ModuleMetadata, Provider } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { GatekeeperModule, type GatekeeperOptions, memory } from 'nestjs-gatekeeper';

/** Boots an application with the module of this copy. It is closed after the test. */
export function useBoot() {
  const booted: TestingModule[] = [];
  afterEach(async () => {
    for (const each of booted.splice(0)) await each.close();
  });
  return async (
    providers: Provider[],
    options: Partial<GatekeeperOptions> = {},
    imports: ModuleMetadata['imports'] = [],
  ) => {
    const gatekeeper = GatekeeperModule.forRoot({ store: memory(), ...options });
    const module = await Test.createTestingModule({ imports: [gatekeeper, ...imports], providers }).compile();
    module.useLogger(false);
    booted.push(module);
    return module.init();
  };
}
