import { type AddressInfo, type Server, connect, createServer } from 'node:net';
import { once } from 'node:events';
import { postgres } from '../../../lib/stores/postgres/index.js';
import { closing } from '../../../test/contract/closing.js';
import { eventually } from '../../../test/contract/eventually.js';
import { PostgresServer, describeOnPostgres } from '../archives/postgres-server.js';

/** As pgbouncer sends it: severity, code and message of an error, which ends the connection. */
const fields = ['SFATAL', 'C08P01', 'Munsupported startup parameter: statement_timeout', ''];
const REFUSAL = Buffer.from(`E____${fields.join('\0')}\0`);
REFUSAL.writeInt32BE(REFUSAL.length - 1, 1);

describeOnPostgres('a pooler that refuses settings of connections', () => {
  let server: PostgresServer;
  let pooler: Server;
  let refused = 0;
  beforeAll(async () => {
    server = await PostgresServer.start();
    pooler = createServer((client) => {
      client.on('error', () => undefined); // the test looks at what the store does
      client.once('data', (greeting) => {
        if (greeting.includes('statement_timeout')) return void (refused++, client.end(REFUSAL));
        const upstream = connect(server.port, '127.0.0.1');
        upstream.on('error', () => client.destroy());
        client.on('close', () => upstream.destroy());
        upstream.write(greeting);
        client.pipe(upstream).pipe(client);
      });
    });
    await once(pooler.listen(0, '127.0.0.1'), 'listening');
  });
  afterAll(async () => {
    pooler?.close();
    await server?.[Symbol.asyncDispose]();
  });

  it('gets connections without them, after it refused those that came first', async () => {
    const { port } = pooler.address() as AddressInfo;
    const connectionString = server.address().replace(`:${server.port}/`, `:${port}/`);
    await using store = closing(postgres({ connectionString }).open({ writer: 'node' }));
    await eventually('connected', () => store.health().connected);
    expect(await store.records.compareAndSet('key', undefined, 'text')).toBe(true);
    expect(await store.records.read('key')).toBe('text');
    const before = refused;
    expect(before).toBeGreaterThan(0);
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => store.tasks.compareAndSet(`task ${index}`, undefined, 'text')),
    );
    expect(refused).toBe(before);
  });
});
