import { Injectable, Module, type OnModuleInit } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { GatekeeperModule, GatekeeperService, type StoreDefinition, hazelcast } from '../../../lib/index.js';
import { postgres } from '../../../lib/stores/postgres/index.js';
import { redis } from '../../../lib/stores/redis/index.js';

/** An application that does not boot, as a process of its own. Prints why, and then has nothing left to do. */
export interface FailingApp {
  readonly redis?: string;
  readonly postgres?: string;
  /** Address of a member. */
  readonly hazelcast?: string;
  /**
   * `made`: it is made and neither started nor closed. `hook`: a hook fails after the node is ready. `away`: a hook waits for
   * the store in vain.
   */
  readonly phase: 'made' | 'hook' | 'away';
}

const app = JSON.parse(process.argv[2]!) as FailingApp;

@Injectable()
class Failing implements OnModuleInit {
  constructor(private readonly gatekeeper: GatekeeperService) {}

  async onModuleInit() {
    await this.gatekeeper.ready({ timeout: app.phase === 'away' ? 1000 : '20s' });
    await this.gatekeeper.tryAcquire('import', { duration: '1m', keepAlive: true });
    throw new Error('a hook failed');
  }
}

@Module({
  imports: [GatekeeperModule.forRoot({ store: storeOf(app), membership: {}, definitionsDelay: 0 })],
  providers: [Failing],
})
class AppModule {}

try {
  const builder = Test.createTestingModule({ imports: [AppModule] });
  if (app.phase === 'made') await builder.compile();
  else await NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
  console.log('made');
} catch (error) {
  console.log((error as Error).message);
}

function storeOf(kinds: FailingApp): StoreDefinition {
  if (kinds.redis !== undefined) return redis({ url: kinds.redis });
  if (kinds.postgres !== undefined) return postgres({ connectionString: kinds.postgres });
  return hazelcast({ members: [kinds.hazelcast!] });
}
