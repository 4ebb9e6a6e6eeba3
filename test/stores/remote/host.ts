import type { AddressInfo } from 'node:net';
import type { INestApplication } from '@nestjs/common';
import { type ConsoleOptions, type GatekeeperOptions, type StoreDefinition, remote } from 'nestjs-gatekeeper';
import { type Platform, TOKENS, createApp } from '../../console/consoles.js';

/** An application that serves its store to others, and how they reach it. */
export interface StoreHostApp {
  readonly app: INestApplication;
  readonly url: string;
  readonly port: number;
  /** A store of another application over it. */
  readonly definition: StoreDefinition;
}

interface HostOptions {
  readonly store: StoreDefinition;
  readonly platform?: Platform;
  readonly port?: number;
  readonly console?: ConsoleOptions;
  readonly gatekeeper?: Partial<GatekeeperOptions>;
  readonly prepare?: (app: INestApplication) => void;
}

export async function serveStore({ port = 0, ...host }: HostOptions): Promise<StoreHostApp> {
  const app = await createApp({ ...host, gatekeeper: { heartbeat: 0, ...host.gatekeeper } });
  await app.listen(port, '127.0.0.1');
  const listening = (app.getHttpServer().address() as AddressInfo).port;
  const url = `http://127.0.0.1:${listening}/gatekeeper`;
  return { app, url, port: listening, definition: remote({ url, token: TOKENS.node }) };
}
