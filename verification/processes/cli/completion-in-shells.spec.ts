import { describeUnless } from '../../../test/support/unless.js';
import { call } from '../../../test/cli/command-line.js';
import { ALL, TAB, lackOfTerminal, typed } from './typing-shell.js';

const script = (await call(['completion', 'bash'])).out;

describeUnless(lackOfTerminal())('completion in bash', () => {
  it.each([
    ['a command', `gatekeeper pau${TAB}`, 'gatekeeper pause'],
    ['an option of all', `gatekeeper --sto${TAB}-o${TAB}`, 'gatekeeper --store-options'],
    [
      'a command behind options',
      `gatekeeper --store status --json mig${TAB}`,
      'gatekeeper --store status --json migrate',
    ],
    ['an option of a command', `gatekeeper edit report --exp${TAB}`, 'gatekeeper edit report --expected-revision'],
    ['no option of another command', `gatekeeper edit report --po${TAB}`, 'gatekeeper edit report --po'],
    ['nothing where something unknown is to be named', `gatekeeper --store st${TAB}`, 'gatekeeper --store st'],
    ['a shell', `gatekeeper completion ba${TAB}`, 'gatekeeper completion bash'],
    ['a command to be helped with', `gatekeeper help expl${TAB}`, 'gatekeeper help explain'],
    ['a file', `gatekeeper load pack${TAB}.${TAB}`, 'gatekeeper load package.json'],
    ['the file of an option', `gatekeeper --token-file tsc${TAB}`, 'gatekeeper --token-file tsconfig.json'],
    ['it also behind =', `gatekeeper --token-file=tsc${TAB}`, 'gatekeeper --token-file=tsconfig.json'],
    ['a command behind =', `gatekeeper --store=x stat${TAB}`, 'gatekeeper --store=x status'],
    ['a folder, and what is in it', `gatekeeper load sample-a${TAB}RE${TAB}`, 'gatekeeper load sample-app/README.md'],
  ])('completes %s', async (_, keys, line) => {
    expect(await typed(script, keys)).toBe(line);
  });

  it('offers all commands and options', async () => {
    const line = await typed(script, `gatekeeper ${ALL}`);
    expect(line).toMatch(/ status /);
    expect(line).toMatch(/ completion /);
    expect(await typed(script, `gatekeeper migrate --to${ALL}`)).toMatch(
      /^gatekeeper migrate --to-group --token --token-file$|^gatekeeper migrate --token --token-file --to-group$/,
    );
  });
});
