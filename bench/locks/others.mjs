import { Redis } from 'ioredis';
import pg from 'pg';
import { requirePeer } from './catalogue.mjs';

/** The peers, each used as its documentation shows: a job releases at its end, whether it took long or not. */
export const OTHERS = {
  redlock: withRedlock,
  'redlock-3': withRedlock,
  'redis-semaphore': withMutex,
  'pg-advisory': withAdvisoryLocks,
};

/** Runs the work under a lock, and releases it. */
function releasing(acquire) {
  return async (name, ms, work) => {
    const held = await acquire(name, ms);
    if (!held) return false;
    try {
      await work();
    } finally {
      await held.release();
    }
    return true;
  };
}

function withRedlock({ ports }) {
  const { default: Redlock, ExecutionError, ResourceLockedError } = requirePeer('redlock');
  const clients = ports.map(connect);
  const redlock = new Redlock(clients, { retryCount: 0 });
  redlock.on('error', () => undefined);
  const acquire = async (name, ms) => {
    try {
      const lock = await redlock.acquire([name], ms);
      return { token: null, believes: () => lock.expiration > Date.now(), release: () => lock.release() };
    } catch (error) {
      if (error instanceof ExecutionError || error instanceof ResourceLockedError) return undefined;
      throw error;
    }
  };
  return { acquire, run: releasing(acquire), close: () => clients.forEach((client) => client.disconnect()) };
}

function withMutex({ ports: [port] }) {
  const { Mutex } = requirePeer('redis-semaphore');
  const client = connect(port);
  const acquire = async (name, lockTimeout, keepAlive = false) => {
    const mutex = new Mutex(client, name, {
      lockTimeout,
      acquireAttemptsLimit: 1,
      onLockLost: () => undefined,
      ...(!keepAlive && { refreshInterval: 0 }),
    });
    if (!(await mutex.tryAcquire())) return undefined;
    return { token: null, believes: () => mutex.isAcquired, release: () => mutex.release() };
  };
  return { acquire, run: releasing(acquire), close: () => client.disconnect() };
}

/** A lock of the session: it lasts as long as its connection, whatever time was asked for. */
function withAdvisoryLocks({ url }, node) {
  const pool = new pg.Pool({ connectionString: url, max: 10, application_name: `pg-advisory-${node}` });
  pool.on('error', () => undefined);
  // The pool does not listen while a connection is lent. Without a listener, a broken one would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  const acquire = async (name) => {
    const client = await pool.connect();
    const text = 'SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS held';
    const asking = client.query({ name: 'lock', text, values: [name] });
    const { rows } = await asking.catch((error) => {
      client.release(true);
      throw error;
    });
    if (!rows[0].held) return void client.release();
    return holdOf(client, name);
  };
  return { acquire, run: releasing(acquire), close: () => pool.end() };
}

function holdOf(client, name) {
  let isConnected = true;
  const lost = () => (isConnected = false);
  client.on('error', lost);
  const text = 'SELECT pg_advisory_unlock(hashtextextended($1, 0))';
  return {
    token: null,
    believes: () => isConnected,
    async release() {
      await client.query({ name: 'unlock', text, values: [name] });
      client.off('error', lost);
      client.release();
    },
  };
}

function connect(port) {
  const client = new Redis(port);
  client.on('error', () => undefined);
  return client;
}
