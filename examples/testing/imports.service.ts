import { ConflictException, Injectable } from '@nestjs/common';
import { GatekeeperService } from 'nestjs-gatekeeper';

@Injectable()
export class ImportsService {
  constructor(private readonly gatekeeper: GatekeeperService) {}

  async import(tenant: string): Promise<string> {
    const name = `import-${tenant}`;
    await using permit = await this.gatekeeper.tryAcquire(name, { duration: '5m' });
    if (!permit) throw new ConflictException((await this.gatekeeper.explain(name)).sentence);
    return `imported ${tenant}`;
  }

  async reindex(): Promise<boolean> {
    const { executed } = await this.gatekeeper.run('reindex', async () => undefined, {
      duration: '10m',
      atLeastFor: 0,
    });
    return executed;
  }
}
