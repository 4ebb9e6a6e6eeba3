import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';

export type Shell = 'bash' | 'zsh' | 'fish';

/** The reason to skip tests of a shell, with the remedy; undefined: they can run. */
export function lackOf(shell: Shell): string | undefined {
  if (!answers(shell)) return `${shell} is missing: "apt-get install ${shell}"`;
  // `script` of util-linux provides a terminal; other versions take other arguments.
  if (shell !== 'fish' && !answers('script')) return `util-linux's script is missing: "apt-get install bsdutils"`;
  return undefined;
}

const answers = (program: string) => spawnSync(program, ['--version']).status === 0;

export const TAB = '\t';
/** Puts all that could stand there onto the line. */
export const ALL = '\u0018a';
const SHOW = '\u0007';
const PROMPT = 'ready> ';

/** A new interactive shell's settings: the keys above, and the line written to the file `line` when SHOW is pressed. */
const SETTINGS = {
  bash: `
bind '"\\C-xa": insert-completions'
bind -x '"\\C-g": printf %s "$READLINE_LINE" > "$SHELL_TEST/line"; exit'
bind 'set enable-bracketed-paste off'`,
  zsh: `
autoload -U compinit; compinit -u -D
zstyle ':completion:all-matches:*' completer _all_matches _complete
zstyle ':completion:all-matches:*' insert true
zle -C all-matches complete-word _generic; bindkey '^Xa' all-matches
show() { printf %s "$BUFFER" > "$SHELL_TEST/line"; exit }; zle -N show; bindkey '^G' show`,
};

/**
 * Types keys into an interactive shell that has read the completion script. @returns its command line afterwards
 *
 * @param how the shell is to read the script, which is the file `$SHELL_TEST/script`: before or after its own set-up
 */
export async function typed(
  shell: 'bash' | 'zsh',
  script: string,
  keys: string,
  { before = '', load = 'source "$SHELL_TEST/script"' } = {},
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gatekeeper-shell-'));
  try {
    await writeFile(join(folder, 'script'), script);
    await writeFile(join(folder, '.zshrc'), `${before}\n${SETTINGS[shell]}\n${load}\nPS1='${PROMPT}'`);
    // zsh finds its start-up file by itself; bash needs an option.
    const command = shell === 'zsh' ? 'zsh -d -i' : `bash --rcfile ${join(folder, '.zshrc')} -i`;
    await type(command, folder, keys + SHOW);
    return (await readFile(join(folder, 'line'), 'utf8')).trimEnd();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function type(command: string, folder: string, keys: string): Promise<void> {
  const env = { ...process.env, ZDOTDIR: folder, SHELL_TEST: folder, HOME: folder, TERM: 'dumb' };
  const terminal = spawn('script', ['-qec', command, '/dev/null'], { env });
  const gone = once(terminal, 'close');
  const deadline = setTimeout(() => terminal.kill(), 50_000);
  let seen = '';
  terminal.stdout.on('data', (chunk: Buffer) => {
    const hadPrompt = seen.includes(PROMPT);
    seen += chunk.toString();
    // Not before: what is typed while the shell starts goes to the terminal's own line editor.
    if (!hadPrompt && seen.includes(PROMPT)) terminal.stdin.write(keys);
  });
  await gone;
  clearTimeout(deadline);
}

/** Completions that fish offers for a line. */
export async function offeredByFish(script: string, line: string): Promise<string[]> {
  const { stdout } = await execa('fish', ['--no-config', '-c', `${script}\ncomplete -C '${line}'`]);
  return stdout.split('\n').map((each) => each.split('\t')[0]!);
}
