import { type Server, type Socket, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { ClientLog, OwnClient, ownClientConfig } from '../../../lib/stores/hazelcast/client-source.js';
import {
  type OwnClientOptions,
  type ResolvedOwnOptions,
  resolveOptions,
} from '../../../lib/stores/hazelcast/hazelcast.options.js';

const TLS_HANDSHAKE = 0x16;

const log = new ClientLog(undefined, () => undefined);
const resolved = (options: OwnClientOptions) => resolveOptions(options) as ResolvedOwnOptions;

describe('TLS and credentials in clientConfig', () => {
  it('reach the config of the client as they stand', () => {
    const ssl = { enabled: true, sslOptions: { ca: 'ca', cert: 'cert', key: 'key', servername: 'hazelcast' } };
    const security = { usernamePassword: { username: 'reports', password: 'secret' } };
    const options = resolved({ members: ['hazelcast:5701'], clientConfig: { network: { ssl }, security } });
    const config = ownClientConfig(options, { log, onState: () => undefined, knownMembers: [] });
    expect(config.security).toBe(security);
    expect(config.network).toMatchObject({ ssl, clusterMembers: ['hazelcast:5701'] });
  });

  it.each([{ token: { token: 'ticket' } }, { custom: { ticket: 1 } }])('may be %j', (security) => {
    const options = resolved({ clientConfig: { security } as OwnClientOptions['clientConfig'] & object });
    const config = ownClientConfig(options, { log, onState: () => undefined, knownMembers: [] });
    expect(config.security).toBe(security);
  });
});

describe('What a member receives', () => {
  let server: Server;
  let received: Buffer;

  beforeEach(async () => {
    received = Buffer.alloc(0);
    server = createServer((socket) => answerWithEnd(socket)).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  afterEach(() => new Promise((resolve) => server.close(resolve)));

  /** No member: it notes the first message and ends the connection, so the client gives up. */
  function answerWithEnd(socket: Socket): void {
    socket.on('error', () => undefined);
    socket.on('data', (data: Buffer) => {
      received = Buffer.concat([received, data]);
      // Three bytes of the protocol may come alone, before the first message.
      if (received.length > 3) socket.destroy();
    });
  }

  async function connectWith(clientConfig: OwnClientOptions['clientConfig'] & object): Promise<void> {
    const { port } = server.address() as AddressInfo;
    const client = new OwnClient(resolved({ members: [`127.0.0.1:${port}`], clientConfig }));
    await expect(client.connect()).rejects.toThrow(/closed by the other side|socket disconnected/);
  }

  it('is a TLS handshake, if the client shall speak TLS', async () => {
    await connectWith({ network: { ssl: { enabled: true, sslOptions: { rejectUnauthorized: true } } } });
    expect(received[0]).toBe(TLS_HANDSHAKE);
  });

  it('is the name and the password, if the client has them', async () => {
    await connectWith({ security: { usernamePassword: { username: 'reports', password: 'secret' } } });
    expect(received.toString('latin1')).toMatch(/^CP2.*reports.*secret/s);
  });
});
