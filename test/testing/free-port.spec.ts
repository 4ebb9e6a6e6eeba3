import { freePort } from '../../lib/testing/hazelcast/free-port.js';

const HOST = '127.0.0.1';
const NONE: ReadonlySet<number> = new Set();
const PORTS_OF_A_PROCESS = 100;

describe('a free port of the launcher', () => {
  it('is chosen once, and from ports of which processes with neighbouring ids have others', async () => {
    const ports = await Promise.all(Array.from({ length: 25 }, () => freePort(HOST, NONE)));
    expect(new Set(ports).size).toBe(ports.length);
    const block = (port: number) => Math.floor(port / PORTS_OF_A_PROCESS);
    expect(new Set(ports.map(block))).toEqual(new Set([150 + (process.pid % 170)]));
  });
});
