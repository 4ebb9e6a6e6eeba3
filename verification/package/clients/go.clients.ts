import { execa } from 'execa';
import { PATIENCE, useGeneratedClient } from './generated-client.js';

describe('a generated Go client', () => {
  const works = useGeneratedClient({
    generator: 'go',
    options: ['--git-user-id', 'gatekeeper', '--git-repo-id', 'client', '-p', 'packageName=gatekeeper'],
    needs: [['go', 'version']],
    client: '.',
    program: ['main.go', 'program/main.go'],
    build: async (folder) => {
      await execa({ cwd: folder, env: { GOFLAGS: '-mod=mod' } })('go', ['build', '-o', 'program.exe', './program']);
      return ['./program.exe'];
    },
  });

  it('waits for a permit, refreshes and releases it', works, PATIENCE);
});
