import { readFileSync } from 'node:fs';
import { VERSION } from '../../../lib/core/copies/version.js';

it('the version in the sources is that of the package', () => {
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
  expect(VERSION).toBe(version);
});
