import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { memory, parseGatekeeperOptions } from 'nestjs-gatekeeper';
import { applicationName } from '../../lib/gatekeeper/process.js';

describe('the name of the application', () => {
  let root: string;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'application-'));
  });

  afterEach(() => rmSync(root, { recursive: true }));

  function write(file: string, content: object | string): string {
    const path = join(root, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  }

  it('is that of the next package.json above the script', () => {
    write('package.json', { name: 'acme' });
    write('packages/shop/package.json', { name: '@acme/shop' });
    expect(applicationName(write('packages/shop/dist/main.js', ''), '/')).toBe('@acme/shop');
  });

  it('ends with the folder of an application that shares its package with others', () => {
    write('package.json', { name: 'acme' });
    expect(applicationName(write('dist/apps/shop/main.js', ''), '/')).toBe('acme/shop');
    expect(applicationName(join(root, 'dist/apps/billing/main'), '/')).toBe('acme/billing');
  });

  it('is not that of a tool that runs it: then the working directory says it', () => {
    write('package.json', { name: 'shop' });
    write('node_modules/pm2/package.json', { name: 'pm2' });
    const script = write('node_modules/pm2/lib/ProcessContainerFork.js', '');
    symlinkSync(script, join(root, 'pm2'));
    expect(applicationName(join(root, 'pm2'), root)).toBe('shop');
  });

  it('skips a package.json without a name, and one that is no JSON', () => {
    write('package.json', { name: 'shop' });
    write('dist/package.json', { type: 'module' });
    write('dist/src/package.json', '{');
    expect(applicationName(write('dist/src/main.js', ''), '/')).toBe('shop');
  });

  it('is unknown without any package.json, and with a name that is none here', () => {
    expect(applicationName(write('main.js', ''), '/')).toBeUndefined();
    write('package.json', { name: 'x'.repeat(500) });
    expect(applicationName(write('main.js', ''), '/')).toBeUndefined();
  });

  it('is that of the option, if it is given', () => {
    expect(parseGatekeeperOptions({ store: memory(), application: 'shop' }).application).toBe('shop');
    expect(parseGatekeeperOptions({ store: memory() }).application).toBe('nestjs-gatekeeper');
    expect(() => parseGatekeeperOptions({ store: memory(), application: '' })).toThrow(/application/);
  });
});
