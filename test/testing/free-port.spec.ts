import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { freePort } from '../../lib/testing/hazelcast/free-port.js';
import { compiledPath } from '../../tools/test/compile.mjs';

const HOST = '127.0.0.1';
const NONE: ReadonlySet<number> = new Set();
const BLOCK = 100;
const MODULE = compiledPath(fileURLToPath(new URL('../../lib/testing/hazelcast/free-port.ts', import.meta.url)));

function blocksOf(ports: readonly number[]): Set<number> {
  return new Set(ports.map((port) => Math.floor(port / BLOCK)));
}

/** Ports that another thread of this process chooses. */
async function portsOfThread(count: number): Promise<number[]> {
  const worker = new Worker(
    `const { parentPort } = require('node:worker_threads');
    import(${JSON.stringify(MODULE)}).then(async ({ freePort }) => {
      const ports = Array.from({ length: ${count} }, () => freePort('${HOST}', new Set()));
      parentPort.postMessage(await Promise.all(ports));
    });`,
    { eval: true },
  );
  const [ports] = (await once(worker, 'message')) as [number[]];
  await worker.terminate();
  return ports;
}

describe('a free port of the launcher', () => {
  it('is chosen once, and from a block of ports that other threads of the process do not have', async () => {
    const own = await Promise.all(Array.from({ length: 25 }, () => freePort(HOST, NONE)));
    expect(new Set(own).size).toBe(own.length);
    const blocks = [own, await portsOfThread(5), await portsOfThread(5)].map(blocksOf);
    expect(blocks.map(({ size }) => size)).toEqual([1, 1, 1]);
    expect(new Set(blocks.flatMap((each) => [...each])).size).toBe(blocks.length);
  });
});
