import { Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { GatekeeperModule, hazelcast } from 'nestjs-gatekeeper';
import { ImportsService } from './imports.service.js';
import { NightlyExportJob } from './nightly-export.job.js';

@Module({
  imports: [
    ScheduleModule.forRoot(),
    GatekeeperModule.forRoot({ store: hazelcast({ clusterName: 'dev', members: ['127.0.0.1:5701'] }) }),
  ],
  providers: [NightlyExportJob, ImportsService],
})
export class AppModule {}
