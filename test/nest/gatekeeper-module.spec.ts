import { Injectable, Module, Scope } from '@nestjs/common';
import {
  ClusterSingleton,
  GatekeeperModule,
  type GatekeeperOptions,
  GatekeeperService,
  InvalidOptionsError,
  memory,
} from 'nestjs-gatekeeper';
import { bootError, useApps } from '../support/apps.js';

@Injectable()
class Jobs {
  @ClusterSingleton('job', '10s')
  async run(): Promise<string | undefined> {
    return 'ran';
  }
}

@Injectable()
class OptionsFactory {
  createGatekeeperOptions(): GatekeeperOptions {
    return { store: memory(), group: 'made by a class', definitionsDelay: 0 };
  }
}

@Module({ providers: [OptionsFactory], exports: [OptionsFactory] })
class ConfigModule {}

@Module({ providers: [Jobs], exports: [Jobs] })
class FeatureModule {}

/** Nest's error where it finds no gatekeeper for the jobs. */
const NO_SERVICE = { type: 'Jobs', context: { name: GatekeeperService } };

describe('GatekeeperModule', () => {
  const { start, boot } = useApps();

  it('gives the service to every module with forRoot', async () => {
    const { get } = await boot({ imports: [FeatureModule] });
    expect(await get(Jobs).run()).toBe('ran');
  });

  it.each([
    [
      'useFactory',
      GatekeeperModule.forRootAsync({ useFactory: () => ({ store: memory(), group: 'made by a class' }) }),
    ],
    [
      'an asynchronous useFactory that injects',
      GatekeeperModule.forRootAsync({
        imports: [ConfigModule],
        inject: [OptionsFactory],
        useFactory: async (factory: OptionsFactory) => factory.createGatekeeperOptions(),
      }),
    ],
    ['useClass', GatekeeperModule.forRootAsync({ useClass: OptionsFactory })],
    ['useExisting', GatekeeperModule.forRootAsync({ imports: [ConfigModule], useExisting: OptionsFactory })],
  ])('takes its options from %s', async (_, module) => {
    const app = await start({ imports: [module, FeatureModule] });
    expect(app.get(GatekeeperService).node.group).toBe('made by a class');
  });

  it('is seen only by modules that import it with isGlobal: false', async () => {
    const module = GatekeeperModule.forRoot({ store: memory(), isGlobal: false });
    const error = await bootError(start({ imports: [module, FeatureModule] }));
    expect(error).toMatchObject(NO_SERVICE);
  });

  it('is seen by modules that import it with isGlobal: false', async () => {
    const gatekeeper = GatekeeperModule.forRoot({ store: memory(), isGlobal: false });
    @Module({ imports: [gatekeeper], providers: [Jobs] })
    class ImportingModule {}
    const app = await start({ imports: [ImportingModule] });
    expect(app.get(GatekeeperService)).toBeDefined();
  });

  it('is isGlobal: false with forRootAsync too', async () => {
    const module = GatekeeperModule.forRootAsync({ isGlobal: false, useFactory: () => ({ store: memory() }) });
    const error = await bootError(start({ imports: [module, FeatureModule] }));
    expect(error).toMatchObject(NO_SERVICE);
  });

  it('is named by the error of an application that lacks it, with what to do', async () => {
    const error = await bootError(start({ providers: [Jobs] }));
    expect(error).toMatchObject(NO_SERVICE);
    expect(error.message).toMatch(/resolve dependencies of the Jobs/);
    expect(error.message).toContain('GatekeeperService for @ClusterSingleton: import GatekeeperModule.forRoot({...})');
  });

  it('refuses a second one in the same application, and the error says what to do', async () => {
    const [one, other] = [0, 1].map(() => GatekeeperModule.forRoot({ store: memory(), definitionsDelay: 0 }));
    @Module({ imports: [other!] })
    class SecondModule {}
    const error = await bootError(start({ imports: [one!, SecondModule, FeatureModule] }));
    expect(error).toBeInstanceOf(InvalidOptionsError);
    expect(error.message).toMatch(/^GatekeeperModule can't be used: the application has 2 of them: call forRoot\(\)/);
  });

  it('says what to do if a factory returns no options', async () => {
    const module = GatekeeperModule.forRootAsync({ useFactory: () => undefined as never });
    const error = await bootError(start({ imports: [module] }));
    expect(error).toBeInstanceOf(InvalidOptionsError);
    expect(error.message).toContain(
      'it has no options: give forRoot() some, or let the factory of forRootAsync() return them',
    );
  });

  it('says what to do if forRoot() gets no options', () => {
    expect(() => GatekeeperModule.forRoot(undefined as never)).toThrow(InvalidOptionsError);
  });

  it('names a frozen instance, which can not get the gatekeeper', async () => {
    const frozen = { provide: Jobs, useFactory: () => Object.freeze(new Jobs()) };
    const error = await bootError(boot({ providers: [frozen] }));
    expect(error).toBeInstanceOf(InvalidOptionsError);
    expect(error.message).toContain('an instance of Jobs can');
  });

  it('refuses options of a provider in request scope: each request would make a gatekeeper', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class TenantOptions extends OptionsFactory {}
    @Module({ providers: [TenantOptions], exports: [TenantOptions] })
    class TenantModule {}
    const module = GatekeeperModule.forRootAsync({
      imports: [TenantModule],
      inject: [TenantOptions],
      useFactory: (options: TenantOptions) => options.createGatekeeperOptions(),
    });
    const error = await bootError(start({ imports: [module, FeatureModule] }));
    expect(error).toBeInstanceOf(InvalidOptionsError);
    expect(error.message).toContain('its options depend on a provider in request scope');
  });

  it('is one in an application with another token for its service', async () => {
    const alias = { provide: 'LOCKS', useFactory: (each: GatekeeperService) => each, inject: [GatekeeperService] };
    const { app, gatekeeper } = await boot({ imports: [FeatureModule], providers: [alias] });
    expect(app.get('LOCKS')).toBe(gatekeeper);
  });

  it('fails at boot with one error that lists every wrong option', async () => {
    const wrong = { store: {} as never, group: '', callTimeout: 'soon', definitions: [{ name: 'x', duration: 0 }] };
    const error = await bootError(start({ imports: [GatekeeperModule.forRoot(wrong)] }));
    expect(error).toBeInstanceOf(InvalidOptionsError);
    expect((error as InvalidOptionsError).faults).toHaveLength(4);
    expect(error.message).toMatch(/store: .*group: .*definitions.0.duration: 0 .*callTimeout: "soon"/);
  });

  it('keeps two applications in one process apart', async () => {
    const [one, other] = [await boot({ imports: [FeatureModule] }), await boot({ imports: [FeatureModule] })];
    expect(one.gatekeeper.node.instance).not.toBe(other.gatekeeper.node.instance);
    expect([await one.get(Jobs).run(), await other.get(Jobs).run()]).toEqual(['ran', 'ran']);
  });

  it('lets two applications in one process share a cluster as two nodes', async () => {
    const store = memory();
    const one = await boot({ imports: [FeatureModule] }, {}, store);
    const other = await boot({ imports: [FeatureModule] }, {}, store);
    expect([await one.get(Jobs).run(), await other.get(Jobs).run()]).toEqual(['ran', undefined]);
  });
});
