import { describeUnless } from '../../../test/support/unless.js';
import { call } from '../../../test/cli/command-line.js';
import { ALL, TAB, lackOf, offeredByFish, typed } from './typing-shell.js';

const scriptFor = async (shell: string) => (await call(['completion', shell])).out;

/** Tests that need a shell, and a terminal to type into. */
function describeIn(shell: 'bash' | 'zsh' | 'fish', tests: () => void): void {
  describeUnless(lackOf(shell))(`completion in ${shell}`, tests);
}

for (const shell of ['bash', 'zsh'] as const) {
  describeIn(shell, () => {
    it.each([
      ['a command', `gatekeeper pau${TAB}`, 'gatekeeper pause'],
      ['an option of all', `gatekeeper --haz${TAB}-o${TAB}`, 'gatekeeper --hazelcast-options'],
      [
        'a command behind options',
        `gatekeeper --cluster status --json mig${TAB}`,
        'gatekeeper --cluster status --json migrate',
      ],
      ['an option of a command', `gatekeeper edit report --exp${TAB}`, 'gatekeeper edit report --expected-revision'],
      ['no option of another command', `gatekeeper edit report --po${TAB}`, 'gatekeeper edit report --po'],
      ['nothing where something unknown is to be named', `gatekeeper --cluster st${TAB}`, 'gatekeeper --cluster st'],
      ['a shell', `gatekeeper completion fi${TAB}`, 'gatekeeper completion fish'],
      ['a command to be helped with', `gatekeeper help expl${TAB}`, 'gatekeeper help explain'],
      ['a file', `gatekeeper load pack${TAB}.${TAB}`, 'gatekeeper load package.json'],
      ['the file of an option', `gatekeeper --token-file tsc${TAB}`, 'gatekeeper --token-file tsconfig.json'],
      ['it also behind =', `gatekeeper --token-file=tsc${TAB}`, 'gatekeeper --token-file=tsconfig.json'],
      ['a command behind =', `gatekeeper --cluster=x stat${TAB}`, 'gatekeeper --cluster=x status'],
      ['a folder, and what is in it', `gatekeeper load sample-a${TAB}RE${TAB}`, 'gatekeeper load sample-app/README.md'],
    ])('completes %s', async (_, keys, line) => {
      expect(await typed(shell, await scriptFor(shell), keys)).toBe(line);
    });

    it('offers all commands and options', async () => {
      const line = await typed(shell, await scriptFor(shell), `gatekeeper ${ALL}`);
      expect(line).toMatch(/ status /);
      expect(line).toMatch(/ completion /);
      expect(await typed(shell, await scriptFor(shell), `gatekeeper migrate --to${ALL}`)).toMatch(
        /^gatekeeper migrate --to-group --token --token-file$|^gatekeeper migrate --token --token-file --to-group$/,
      );
    });
  });
}

describeIn('zsh', () => {
  it('works as a file of $fpath, from the first time on', async () => {
    const before =
      'mkdir $SHELL_TEST/functions; ln -s $SHELL_TEST/script $SHELL_TEST/functions/_gatekeeper; fpath=($SHELL_TEST/functions $fpath)';
    const how = { before, load: '' };
    const script = await scriptFor('zsh');
    expect(await typed('zsh', script, `gatekeeper pau${TAB}`, how)).toBe('gatekeeper pause');
    expect(await typed('zsh', script, `gatekeeper pause all --reas${TAB}`, how)).toBe('gatekeeper pause all --reason');
  });
});

describeIn('fish', () => {
  const offered = async (line: string) => offeredByFish(await scriptFor('fish'), line);

  it.each([
    ['a command', 'gatekeeper pau', ['pause']],
    ['an option of a command, and of all', 'gatekeeper migrate --to', ['--to-group', '--token', '--token-file']],
    ['no value of an option for a command', 'gatekeeper --cluster status --he', ['--help']],
    ['no semaphore for a command', 'gatekeeper explain status --he', ['--help']],
    ['nothing where something unknown is to be named', 'gatekeeper --cluster st', ['']],
    ['a shell', 'gatekeeper completion ', ['bash', 'fish', 'zsh']],
    ['a file', 'gatekeeper load tsc', ['tsconfig.json']],
    ['the file of an option', 'gatekeeper --token-file tsc', ['tsconfig.json']],
  ])('offers %s', async (_, line, words) => {
    expect((await offered(line)).toSorted()).toEqual(words);
  });

  it('offers all commands, and no file', async () => {
    expect(await offered('gatekeeper ')).toEqual(expect.arrayContaining(['status', 'migrate', 'completion', 'help']));
    expect(await offered('gatekeeper ')).not.toContain('package.json');
  });
});
