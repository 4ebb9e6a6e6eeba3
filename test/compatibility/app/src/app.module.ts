import { Controller, Get, Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { GatekeeperModule, GatekeeperService, memory } from 'nestjs-gatekeeper';
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
    GatekeeperModule.forRoot({
      store: memory(),
      definitionsDelay: 0,
      console: { tokens: [{ token: 'token-of-ann-0123456789', name: 'ann', role: 'view' }] },
    }),
  ],
  controllers: [SemaphoresController],
  providers: [Jobs],
})
export class AppModule {}
