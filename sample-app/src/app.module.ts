import { type DynamicModule, Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { GatekeeperModule } from 'nestjs-gatekeeper';
import { ArchiveClient } from './archive/archive.client.js';
import { Delivery } from './delivery/delivery.js';
import { DeliveryController } from './delivery/delivery.controller.js';
import { Poller } from './delivery/poller.js';
import { QueuesClient } from './delivery/queues.client.js';
import { Environment } from './environment.js';
import { EnvironmentModule } from './environment.module.js';
import { gatekeeperConfig } from './gatekeeper.config.js';
import { ImportsController } from './imports/imports.controller.js';
import { MailingJob } from './jobs/mailing.job.js';
import { NightlyExportJob } from './jobs/nightly-export.job.js';
import { ReportJob } from './jobs/report.job.js';
import { Metrics } from './metrics.js';
import { MetricsController } from './metrics.controller.js';
import { StateController } from './state.controller.js';
import { TasksModule } from './tasks.module.js';

@Module({
  imports: [
    ScheduleModule.forRoot(),
    GatekeeperModule.forRootAsync({
      inject: [Environment, Metrics],
      useFactory: gatekeeperConfig,
      // Where operators see who holds what, pause, edit and migrate; the tokens stand in the configuration.
      console: { path: 'gatekeeper', environment: 'sample' },
    }),
    TasksModule,
  ],
  controllers: [StateController, ImportsController, DeliveryController, MetricsController],
  providers: [NightlyExportJob, MailingJob, ReportJob, ArchiveClient, Poller, Delivery, QueuesClient],
})
export class AppModule {
  /** The application with the settings of one node. */
  static of(environment: Environment): DynamicModule {
    return { module: AppModule, imports: [EnvironmentModule.of(environment)] };
  }
}
