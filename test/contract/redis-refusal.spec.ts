import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { redis } from '../../lib/stores/redis/index.js';
import { eventually } from './eventually.js';

it('redis() says what to do when a server closes each connection, as one in protected mode does', async () => {
  const server = createServer((socket) => socket.end('-DENIED Redis is running in protected mode\r\n'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const store = redis({ url: `redis://127.0.0.1:${port}` }).open({ callTimeout: 500 });
  try {
    await eventually('the reason', () => store.health().problem?.includes('protected-mode') === true);
    await expect(store.records.read('key')).rejects.toThrow(
      /^Not connected to Redis at 127.0.0.1:\d+: .*protected-mode/,
    );
  } finally {
    await store.close();
    server.close();
  }
});
