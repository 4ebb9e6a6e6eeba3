import { Module, type Provider } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { GatekeeperModule, type StoreDefinition, hazelcast } from 'nestjs-gatekeeper';
import { Awakening } from './awakening.js';
import { ContenderJob } from './contender/contender.job.js';
import { Contender } from './contender/contender.js';
import { Definitions } from './contender/definitions.controller.js';
import { Diary } from './contender/diary.js';
import { GuardedWriter } from './contender/guarded-writer.js';
import { Leadership } from './contender/leadership.controller.js';
import { Leading } from './contender/leading.js';
import { Owning } from './contender/owning.js';
import { BothOrdersJobs } from './jobs/both-orders.jobs.js';
import { ErrandJob } from './jobs/errand.job.js';
import { LongJob } from './jobs/long.job.js';
import { ReportJob } from './jobs/report.job.js';
import { ShortJob } from './jobs/short.job.js';
import { TaskWorker } from './jobs/task-worker.js';
import { type JobName, readSettings } from './settings.js';
import { Stalls } from './stalls.js';
import { StateController } from './state.controller.js';

const JOBS: Record<JobName, Provider[]> = {
  'both-orders': [BothOrdersJobs, Stalls],
  short: [ShortJob, Stalls],
  long: [LongJob, Stalls],
  errand: [ErrandJob],
  report: [ReportJob, Awakening],
  'task-worker': [TaskWorker],
  contender: [Diary, GuardedWriter, Contender, ContenderJob, Leading, Owning],
};

const { name, clusterName, members, jobs, options, store, server } = readSettings();

/** Loads only the store that is used, as an application does. */
async function storeOf(server: string | undefined): Promise<StoreDefinition> {
  if (server === undefined) return hazelcast({ clusterName, members, ...store });
  if (server.startsWith('redis:')) return (await import('nestjs-gatekeeper/redis')).redis({ url: server });
  const { postgres } = await import('nestjs-gatekeeper/postgres');
  return postgres({ connectionString: server, maxConnections: 5 });
}

@Module({
  imports: [
    ScheduleModule.forRoot(),
    GatekeeperModule.forRoot({
      acquirer: name,
      store: await storeOf(server),
      definitionsDelay: 500,
      ...options,
    }),
  ],
  controllers: [StateController, Definitions, Leadership],
  providers: jobs.flatMap((job) => JOBS[job]),
})
export class AppModule {}
