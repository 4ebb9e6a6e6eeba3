import { Controller, Get, Param, Put } from '@nestjs/common';
import { ClusterService, type ClusterStatus } from 'nestjs-gatekeeper';

/** Lets tests hand the leadership over as an application does. */
@Controller('leadership')
export class Leadership {
  constructor(private readonly cluster: ClusterService) {}

  @Get()
  status(): ClusterStatus {
    return this.cluster.clusterStatus();
  }

  @Put('resign')
  async resign(): Promise<{ done: boolean }> {
    await this.cluster.resign();
    return { done: true };
  }

  @Put('transfer/:node')
  async transfer(@Param('node') node: string): Promise<{ done: boolean }> {
    await this.cluster.transferTo(node);
    return { done: true };
  }
}
