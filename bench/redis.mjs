import { createHash, randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { redis } from 'nestjs-gatekeeper/redis';
import { createClient } from 'redis';
import { openGatekeeper } from './in-process.mjs';
import { startRedis } from './peers/servers.mjs';
import { NAMES, sequential, textOf } from './sequential.mjs';

/** The least that a compare-and-set by script needs: one key, no index, no message. */
const RAW = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
return 1
`;
const SHA = createHash('sha1').update(RAW).digest('hex');
const IDLE_NODES = 10;

/** Each client, with a function that sends a command. */
const CLIENTS = {
  ioredis: async (port) => {
    const client = new Redis(port);
    return { client, send: (name, ...args) => client.call(name, ...args), close: () => client.disconnect() };
  },
  'node-redis': async (port) => {
    const client = createClient({ socket: { port } });
    await client.connect();
    return { client, send: (...args) => client.sendCommand(args), close: () => client.destroy() };
  },
};

/** Single calls on Redis against a raw script on the same client, alone and beside idle nodes. */
export async function onRedis() {
  const rows = [];
  for (const [kind, connect] of Object.entries(CLIENTS)) {
    for (const idle of [0, IDLE_NODES]) {
      const measured = await measure(connect, idle);
      const name = `redis, ${kind}${idle > 0 ? `, ${idle} idle nodes` : ''}`;
      rows.push(...measured.map((row) => ({ ...row, name: `${name}: ${row.name}` })));
    }
  }
  return rows;
}

async function measure(connect, idle) {
  const server = await startRedis();
  const connections = [];
  const opened = [];
  const open = async (name) => {
    const connection = await connect(server.port);
    connections.push(connection);
    const gatekeeper = await openGatekeeper(redis({ client: connection.client }), name, NAMES);
    opened.push(gatekeeper);
    await gatekeeper.ready();
    return { ...connection, gatekeeper };
  };
  try {
    const { gatekeeper, client, send } = await open('bench');
    const other = await open('other');
    for (let count = 0; count < idle; count++) await open(`idle-${count}`);
    const raw = await rawCalls(client, send);
    opened.push(raw);
    return await sequential({ gatekeeper, other: other.gatekeeper, raw });
  } finally {
    for (const each of opened) await each.close();
    for (const { close } of connections) close();
    await server.stop();
  }
}

async function rawCalls(client, send) {
  const store = redis({ client }).open();
  await send('script', 'load', RAW);
  return {
    close: () => store.close(),
    afterWrite: () => send('set', 'quiet', 'quiet'),
    afterRead: () => send('get', 'quiet'),
    stored: (name) => store.records.read(`semaphore:${name}`),
    compareAndSet(from, to) {
      const key = randomUUID();
      let stored;
      return async (count) => {
        const [current, next] = [stored ?? textOf(from, `${count}-`), textOf(to, `${count}+`)];
        if (current !== stored) await send('set', key, current);
        stored = from === to ? next : undefined;
        return async () => {
          if ((await send('evalsha', SHA, '1', key, current, next)) !== 1) throw new Error('the raw script refused');
        };
      };
    },
    get(text) {
      const key = randomUUID();
      return async () => {
        await send('set', key, text);
        return () => send('get', key);
      };
    },
  };
}
