import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { json } from 'node:stream/consumers';
import { execa } from 'execa';
import { MAIN } from './live-cluster.js';

/** Says on standard error that the command is about to read its standard input. */
const TELLING = `data:text/javascript,${encodeURIComponent(`
  import fs from 'node:fs';
  import { syncBuiltinESMExports } from 'node:module';
  const read = fs.readFileSync;
  fs.readFileSync = (file, ...rest) => {
    if (file === 0) fs.writeSync(2, 'READS\\n');
    return read(file, ...rest);
  };
  syncBuiltinESMExports();`)}`;

describe('standard input of the command line', () => {
  const bodies: unknown[] = [];
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      bodies.push(body);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ id: 'mail:a', outcome: 'created', because: 'unknown before' }));
    });
  });
  beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'));
  afterAll(() => void server.close());

  it('may come later than the command reads it, as from a slow command before it', async () => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/gatekeeper`;
    const args = ['tasks', 'submit', 'mail:a', '--data-file', '-', '--url', url, '--token', 'some-token-0123456789'];
    const command = execa(process.execPath, ['--import', TELLING, MAIN, ...args], {
      reject: false,
      env: { NODE_OPTIONS: '' },
      timeout: 30_000,
    });
    const data = { to: 'ada', texts: Array(10_000).fill('more than a pipe holds') };
    command.stderr.once('data', () => command.stdin.end(JSON.stringify(data)));

    expect(await command).toMatchObject({ exitCode: 0, stdout: 'mail:a: created (unknown before)' });
    expect(bodies).toEqual([{ id: 'mail:a', data }]);
  });
});
