import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { PATIENCE, useGeneratedClient } from './generated-client.js';

const TYPES = fileURLToPath(new URL('../../../node_modules/@types', import.meta.url));
const BIN = fileURLToPath(new URL('../../../node_modules/.bin/', import.meta.url));

describe('a generated TypeScript client', () => {
  const works = useGeneratedClient({
    generator: 'typescript-fetch',
    needs: [],
    client: 'client',
    program: ['main.ts', 'main.ts'],
    build: async (folder) => {
      const run = execa({ cwd: folder });
      const target = ['--target', 'es2022', '--module', 'esnext', '--moduleResolution', 'bundler'];
      const types = ['--lib', 'es2022,dom,dom.iterable', '--types', 'node', '--typeRoots', TYPES, '--skipLibCheck'];
      await run(`${BIN}tsc`, ['--noEmit', '--strict', ...target, ...types, 'main.ts']);
      const bundle = ['--bundle', '--platform=node', '--format=esm', '--log-level=error', '--outfile=main.mjs'];
      await run(`${BIN}esbuild`, ['main.ts', ...bundle]);
      return [process.execPath, 'main.mjs'];
    },
  });

  it('waits for a permit, refreshes and releases it', works, PATIENCE);
});
