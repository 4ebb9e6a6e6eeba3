import { Controller, Get, Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { TerminusModule } from '@nestjs/terminus';
import { GatekeeperModule, GatekeeperService, memory } from 'nestjs-gatekeeper';
import { HealthController } from './health.controller.js';
import { Jobs } from './jobs.js';

@Controller('semaphores')
export class SemaphoresController {
  constructor(private readonly gatekeeper: GatekeeperService) {}

  @Get()
  async names(): Promise<string[]> {
    return (await this.gatekeeper.state()).semaphores.map(({ name }) => name);
  }
}

@Module({
  imports: [
    ScheduleModule.forRoot(),
    TerminusModule,
    GatekeeperModule.forRoot({
      store: memory(),
      definitionsDelay: 0,
      console: { tokens: [{ token: 'token-of-ann-0123456789', name: 'ann', role: 'view' }] },
    }),
  ],
  controllers: [SemaphoresController, HealthController],
  providers: [Jobs],
})
export class AppModule {}
