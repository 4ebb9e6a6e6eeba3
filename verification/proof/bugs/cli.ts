import { parseArgs } from 'node:util';
import type { Bug, Layer } from './bug.js';
import { BUGS, bugNamed } from './bugs.js';
import { type Catch, commandOf, control, hunt } from './hunt.js';

const USAGE = `test:bugs: puts each bug into the sources and runs the layer of tests that must find it
  npm run test:bugs                 all bugs, and each layer once without a bug
  npm run test:bugs -- <name>...    these bugs only
  --list                            prints the table of bugs and runs nothing`;

/** @returns the exit code: 0 only when every bug was found, and nothing without one */
export async function main(args: readonly string[], print: (text: string) => void): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { list: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
  });
  if (values.help) print(USAGE);
  else if (values.list) print(table(BUGS));
  if (values.help || values.list) return 0;
  const bugs = positionals.length > 0 ? positionals.map(bugNamed) : BUGS;
  const found = new Map<Bug, Catch>();
  for (const bug of bugs) {
    const caught = await hunt(bug);
    found.set(bug, caught);
    print(`${caught.isFound ? 'found    ' : 'NOT FOUND'}  ${bug.name}: ${caught.how}`);
  }
  const isQuiet = positionals.length > 0 || (await areQuiet(print));
  print(`\n${table(bugs, found)}`);
  const missed = [...found.values()].filter(({ isFound }) => !isFound).length;
  print(`\n${bugs.length - missed} of ${bugs.length} bugs found`);
  return missed === 0 && isQuiet ? 0 : 1;
}

/** Runs the layers without bugs: a layer that then finds something proves nothing. */
async function areQuiet(print: (text: string) => void): Promise<boolean> {
  let isQuiet = true;
  for (const layer of controls(BUGS.map((bug) => bug.layer))) {
    const { isFound, how } = await control(layer);
    print(`${isFound ? 'NOT QUIET' : 'quiet    '}  ${layerName(layer)} without a bug: ${how}`);
    isQuiet &&= !isFound;
  }
  return isQuiet;
}

/** All specs at once, and for each fault mix as many schedules as the slowest bug needs. */
function controls(layers: readonly Layer[]): Layer[] {
  const specs = new Set(layers.flatMap((layer) => (layer.kind === 'specs' ? layer.specs : [])));
  const mixes = new Map<string, Exclude<Layer, { kind: 'specs' }>>();
  for (const layer of layers) {
    if (layer.kind === 'specs') continue;
    const name = layerName(layer);
    const other = mixes.get(name);
    if (!other || layer.within > other.within) mixes.set(name, layer);
  }
  return [{ kind: 'specs', title: 'all specs', specs: [...specs] }, ...mixes.values()];
}

function table(bugs: readonly Bug[], found?: ReadonlyMap<Bug, Catch>): string {
  const head = ['bug', 'layer that finds it', 'command', ...(found ? ['found'] : [])];
  const rows = bugs.map((bug) => {
    const caught = found?.get(bug);
    const name = `\`${bug.name}\`: ${bug.why}`;
    return [name, layerName(bug.layer), `\`${commandOf(bug)}\``, ...(caught ? [caught.how] : [])];
  });
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [head, head.map(() => '---'), ...rows].map(line).join('\n');
}

function layerName(layer: Layer): string {
  if (layer.kind === 'simulation') return `simulation (${layer.faultMix}${layer.members ? ', with members' : ''})`;
  if (layer.kind === 'specs') return `${layer.title}: ${layer.specs.join(', ')}`;
  return `simulation of the ${layer.kind} (${layer.faults.join(', ')})`;
}
