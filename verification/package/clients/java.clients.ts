import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { PATIENCE, useGeneratedClient } from './generated-client.js';

const PACKAGES = ['--invoker-package', 'gatekeeper', '--api-package', 'gatekeeper.api'];
const OPTIONS = ['--model-package', 'gatekeeper.model', '-p', 'openApiNullable=false,useJakartaEe=true'];

describe('a generated Java client', () => {
  const works = useGeneratedClient({
    generator: 'java',
    options: ['--library', 'native', ...PACKAGES, ...OPTIONS],
    needs: [['javac', '-version']],
    client: 'client',
    program: ['Main.java', 'Main.java'],
    build: async (folder) => {
      const run = execa({ cwd: folder });
      // The client's own pom says what it needs.
      const libraries = `-DoutputDirectory=${join(folder, 'libraries')}`;
      await run('mvn', ['-q', '-B', '-f', 'client/pom.xml', 'dependency:copy-dependencies', libraries]);
      const sources = (await readdir(join(folder, 'client/src/main/java'), { recursive: true }))
        .filter((file) => file.endsWith('.java'))
        .map((file) => join('client/src/main/java', file));
      await run('javac', ['-nowarn', '-proc:none', '-cp', 'libraries/*', '-d', 'classes', ...sources, 'Main.java']);
      return ['java', '-cp', 'classes:libraries/*', 'Main'];
    },
  });

  it('waits for a permit, refreshes and releases it', works, PATIENCE);
});
