import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { CACHE, PATIENCE, useGeneratedClient } from './generated-client.js';

const REQUIREMENTS = fileURLToPath(new URL('programs/requirements.txt', import.meta.url));
const VENV = join(CACHE, 'venv');

describe('a generated Python client', () => {
  const works = useGeneratedClient({
    generator: 'python',
    needs: [['python3', '-c', 'import venv, ensurepip']],
    client: '.',
    program: ['main.py', 'main.py'],
    build: async () => {
      const python = join(VENV, 'bin/python');
      if (!existsSync(python)) await install(python);
      return [python, 'main.py'];
    },
  });

  it('waits for a permit, refreshes and releases it', works, PATIENCE);
});

async function install(python: string): Promise<void> {
  try {
    await execa('python3', ['-m', 'venv', VENV]);
    await execa(python, ['-m', 'pip', 'install', '-q', '-r', REQUIREMENTS]);
  } catch (error) {
    // Half of it would be taken for all of it the next time.
    await rm(VENV, { recursive: true, force: true });
    throw error;
  }
}
