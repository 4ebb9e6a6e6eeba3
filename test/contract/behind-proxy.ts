import type { Outage } from '../../lib/testing/contract/index.js';
import { SwitchableProxy } from '../support/switchable-proxy.js';

/** A server behind a proxy that can cut its clients off. */
export interface BehindProxy {
  readonly port: number;
  readonly outage: Outage;
  close(): Promise<void>;
}

/** @param port of the server, on loopback */
export async function behindProxy(port: number): Promise<BehindProxy> {
  const proxy = await SwitchableProxy.start(port);
  return {
    port: proxy.port,
    outage: {
      begin: async () => proxy.refuse(),
      silence: async () => proxy.loseAnswers(),
      end: async () => {
        if (proxy.isSilent) proxy.cut();
        proxy.accept();
      },
    },
    close: () => proxy[Symbol.asyncDispose](),
  };
}
