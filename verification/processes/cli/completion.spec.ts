import { execa } from 'execa';
import { call } from '../../../test/cli/command-line.js';

describe('completion', () => {
  it('of bash is accepted by bash, and completes commands, options of each, and shells', async () => {
    const script = await scriptFor('bash');
    await execa({ input: script })`bash -n`;

    expect(await completions(script, 'gatekeeper st')).toEqual(['status']);
    expect(await completions(script, 'gatekeeper ')).toEqual(
      expect.arrayContaining(['status', 'watch', 'migrate', 'load', 'completion', '--url', '--store']),
    );
    expect(await completions(script, 'gatekeeper migrate --to')).toEqual(['--to-group', '--token', '--token-file']);
    expect(await completions(script, 'gatekeeper completion b')).toEqual(['bash']);
    expect(await completions(script, 'gatekeeper edit --exp')).toEqual(['--expected-revision']);
  });

  it('takes the value of an option neither for a command nor for something to complete', async () => {
    const script = await scriptFor('bash');
    expect(await completions(script, 'gatekeeper --store status --he')).toEqual(['--help']);
    expect(await completions(script, 'gatekeeper --store st')).toEqual([]);
  });

  it('completes files where files are named', async () => {
    const script = await scriptFor('bash');
    expect(await completions(script, 'gatekeeper --token-file package.js')).toEqual(['package.json']);
    expect(await completions(script, 'gatekeeper load tsconfig.js')).toEqual(['tsconfig.json']);
  });
});

async function scriptFor(shell: string): Promise<string> {
  const { exitCode, out } = await call(['completion', shell]);
  expect(exitCode).toBe(0);
  return out;
}

/** Completions that bash offers for a line. */
async function completions(script: string, line: string): Promise<string[]> {
  const words = line.split(' ');
  const ask = [
    script,
    `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})`,
    `COMP_CWORD=${words.length - 1}`,
    '_gatekeeper',
    `printf '%s\\n' "\${COMPREPLY[@]}"`,
  ].join('\n');
  const { stdout } = await execa({ input: ask })`bash`;
  return stdout.split('\n').filter(Boolean).toSorted();
}
