import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const ROOT = new URL('../../../', import.meta.url);
const FOLDER = new URL('lib/stores/hazelcast/client-patches/', ROOT);
const FILES = readdirSync(FOLDER).filter((file) => file.endsWith('.ts'));
const { version } = createRequire(import.meta.url)('hazelcast-client/package.json') as { version: string };

/** The entries of a patch's head: "Fault: …", "Upstream: …". */
function headOf(file: string): Map<string, string> {
  const [head = ''] = readFileSync(new URL(file, FOLDER), 'utf8').split('*/', 1);
  const lines = head.replace(/^\/\*\*|^ \* ?/gm, '').trim();
  return new Map(lines.split(/\n(?=\S)/).map((entry) => [entry.split(':', 1)[0]!, unfolded(entry)]));
}

const unfolded = (entry: string) =>
  entry
    .slice(entry.indexOf(':') + 1)
    .replace(/\s+/g, ' ')
    .trim();

describe('The patches of the Hazelcast client', () => {
  it.each(FILES)('%s says what it mends, for which versions, and when it goes', (file) => {
    const head = headOf(file);
    expect([...head.keys()]).toEqual(['Fault', 'Upstream', 'Versions', 'Shown by', 'Goes when']);
    expect(head.get('Upstream')).toMatch(/^https:\/\/github\.com\/hazelcast\/|^not reported/);
  });

  it.each(FILES)('%s was checked with the version that is installed', (file) => {
    const [installed] = /^\d+\.\d+/.exec(version)!;
    expect(headOf(file).get('Versions')).toMatch(new RegExp(`\\b${installed.replace('.', '\\.')}(?!\\d)`));
  });

  it.each(FILES)('%s names a test that shows the fault', (file) => {
    const [, path, title] = /^(\S+), "(.+)"$/.exec(headOf(file).get('Shown by')!)!;
    const test = fileURLToPath(new URL(path!, ROOT));
    expect(existsSync(test)).toBe(true);
    expect(readFileSync(test, 'utf8')).toContain(title);
  });

  it('stand in the list of their README', () => {
    const readme = readFileSync(new URL('README.md', FOLDER), 'utf8');
    const listed = [...readme.matchAll(/^\| `([\w-]+\.ts)`/gm)].map(([, file]) => file);
    expect(listed.toSorted()).toEqual(FILES.toSorted());
  });
});
