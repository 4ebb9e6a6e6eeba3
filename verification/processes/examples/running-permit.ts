import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { type Console, TOKENS, useConsoles } from '../../../test/console/consoles.js';
import { eventually } from '../../../test/contract/eventually.js';

const EXAMPLES = fileURLToPath(new URL('../../../examples/http/', import.meta.url));

export type Script = 'permit.sh' | 'permit.py';

export interface RunOptions {
  /** ms */
  readonly duration: number;
  /** ms; only of permit.py. */
  readonly wait?: number;
  readonly token?: string;
  /** A proxy in front of the console. */
  readonly url?: string;
}

/** One of the example scripts at work under a permit of the semaphore "export", against a console of its own. */
export class RunningPermit {
  private constructor(
    readonly console: Console,
    readonly folder: string,
  ) {}

  static async open(console: Console): Promise<RunningPermit> {
    const folder = await mkdtemp(join(tmpdir(), 'permits-'));
    await writeFile(join(folder, 'main.py'), MAIN);
    return new RunningPermit(console, folder);
  }

  /** Works under a permit until {@link end}. */
  run(script: Script, { duration, wait = 0, token = TOKENS.define, url = this.console.url }: RunOptions) {
    const env = {
      GATEKEEPER_URL: url,
      GATEKEEPER_TOKEN: token,
      PYTHONPATH: EXAMPLES,
      PYTHONDONTWRITEBYTECODE: '1',
    };
    const run = execa({ cwd: this.folder, env, reject: false });
    return script === 'permit.sh'
      ? run(join(EXAMPLES, script), ['export', String(duration), 'bash', '-c', WORK])
      : run('python3', ['main.py', String(duration / 1000), String(wait / 1000)]);
  }

  /** Token under which the work began; undefined: it has not begun. */
  async token(): Promise<number | undefined> {
    const text = await readFile(join(this.folder, 'began'), 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      return '';
    });
    return text === '' ? undefined : Number(text);
  }

  async began(): Promise<void> {
    await eventually('the work began', async () => (await this.token()) !== undefined);
  }

  /** When the work last did something, in ms since the epoch. */
  async lastWorked(): Promise<number> {
    return (await stat(join(this.folder, 'working'))).mtimeMs;
  }

  /** Lets the work end. */
  async end(): Promise<void> {
    await writeFile(join(this.folder, 'end'), '');
  }

  async holders() {
    const { semaphores } = await this.console.gatekeeper.state();
    return semaphores.find(({ name }) => name === 'export')!.holders;
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true });
  }
}

/** @returns the set-up of the test that runs: a console whose semaphore "export" has permits of 10 s, and a folder */
export function useRunningPermit(): () => RunningPermit {
  const start = useConsoles();
  let current: RunningPermit;
  beforeEach(async () => {
    const gatekeeper = { definitions: [{ name: 'export', duration: '10s' }], clockTolerance: 100 };
    current = await RunningPermit.open(await start({ gatekeeper }));
  });
  afterEach(() => current.remove());
  return () => current;
}

/** The file is written under another name first: the test never sees it empty. */
const WORK = 'echo $PERMIT_TOKEN > began.new; mv began.new began; while [ ! -e end ]; do : > working; sleep 0.02; done';

const MAIN = `
import os, sys, time
from permit import Denied, Gatekeeper, PermitLost, Refused

gatekeeper = Gatekeeper(os.environ["GATEKEEPER_URL"], os.environ["GATEKEEPER_TOKEN"])
try:
    with gatekeeper.permit("export", duration=float(sys.argv[1]), wait=float(sys.argv[2])) as permit:
        permit.assert_held()
        with open("began.new", "w") as began:
            began.write(str(permit.token))
        os.rename("began.new", "began")
        while not os.path.exists("end"):
            permit.assert_held()
            open("working", "w").close()
            time.sleep(0.02)
except (Denied, Refused) as denial:
    sys.exit(print(f"no permit: {denial}", file=sys.stderr) or 75)
except PermitLost as loss:
    sys.exit(print(f"lost: {loss}", file=sys.stderr) or 70)
`;
