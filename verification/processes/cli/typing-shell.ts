import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The reason to skip tests that type into a shell, with the remedy; undefined: they can run. */
export function lackOfTerminal(): string | undefined {
  if (!answers('bash')) return 'bash is missing: "apt-get install bash"';
  // `script` of util-linux provides a terminal; other versions take other arguments.
  return answers('script') ? undefined : `util-linux's script is missing: "apt-get install bsdutils"`;
}

const answers = (program: string) => spawnSync(program, ['--version']).status === 0;

export const TAB = '\t';
/** Puts all that could stand there onto the line. */
export const ALL = '\u0018a';
const SHOW = '\u0007';
const PROMPT = 'ready> ';

/** A new interactive shell's settings: the keys above, and the line written to the file `line` when SHOW is pressed. */
const SETTINGS = `
bind '"\\C-xa": insert-completions'
bind -x '"\\C-g": printf %s "$READLINE_LINE" > "$SHELL_TEST/line"; exit'
bind 'set enable-bracketed-paste off'
source "$SHELL_TEST/script"
PS1='${PROMPT}'`;

/** Types keys into an interactive bash that has read the completion script. @returns its command line afterwards */
export async function typed(script: string, keys: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gatekeeper-shell-'));
  try {
    await writeFile(join(folder, 'script'), script);
    await writeFile(join(folder, 'settings'), SETTINGS);
    await type(`bash --rcfile ${join(folder, 'settings')} -i`, folder, keys + SHOW);
    return (await readFile(join(folder, 'line'), 'utf8')).trimEnd();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function type(command: string, folder: string, keys: string): Promise<void> {
  const env = { ...process.env, SHELL_TEST: folder, HOME: folder, TERM: 'dumb' };
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
