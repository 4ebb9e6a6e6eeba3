import { Injectable } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { ClusterSingleton, currentPermit } from 'nestjs-gatekeeper';

@Injectable()
export class NightlyExportJob {
  readonly written: string[] = [];

  @ClusterSingleton('nightly-export', '10m')
  @Cron('0 3 * * *')
  async export(pages = ['page 1', 'page 2']): Promise<number | undefined> {
    for (const page of pages) {
      currentPermit().assertHeld();
      await this.write(page, currentPermit().token);
    }
    return pages.length;
  }

  async write(page: string, token: number): Promise<void> {
    this.written.push(`${page} with token ${token}`);
  }
}
