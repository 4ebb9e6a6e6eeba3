import { readFile, writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';

const BEGIN = '<!-- The command writes what follows, until the end mark. -->';
const END = '<!-- end -->';
const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;

/** One line of a row; of a failed one with what was written. */
export function summary({ name, steps, failure, node, runtime }) {
  const times = Object.entries(steps).map(([step, ms]) => `${step} ${seconds(ms)}`);
  const on = runtime ? `on ${runtime}` : `on Node ${node}`;
  return failure
    ? `FAILED ${name} ${on} at ${failure.step}\n${failure.output}`
    : `passed ${name} ${on}: ${times.join(', ')}`;
}

/** Writes the table between its marks, with the versions that were installed. */
export async function writeTable(file, results) {
  await writeBetween(file, [BEGIN, END], tableOf(results));
}

/** Replaces what stands between two marks of a page. */
export async function writeBetween(file, [begin, end], written) {
  const text = await readFile(file, 'utf8');
  const [before, rest] = text.split(begin);
  const [, ...after] = rest?.split(end) ?? [];
  if (after.length !== 1) throw new Error(`${file} lacks the marks that the table stands between`);
  const whole = `${before}${begin}\n\n${written}\n\n${end}${after[0]}`;
  await writeFile(file, await format(whole, { ...(await resolveConfig(file)), filepath: file }));
}

function tableOf(results) {
  const header = [
    'Nest',
    'schedule',
    'terminus',
    'modules',
    'test runner',
    'platform',
    'runtime',
    'TypeScript',
    'result',
  ];
  const lines = [header, header.map(() => '---'), ...results.map(cells)];
  return lines.map((line) => `| ${line.join(' | ')} |`).join('\n');
}

function cells({ versions, nest, module, runner = 'none', platform, node, runtime, failure }) {
  const result = failure ? `fails at ${failure.step}` : 'passes';
  if (!versions) return [nest, '', '', module, runner, platform, runtime ?? `Node ${node}`, '', result];
  return [
    versions.nest,
    versions.schedule,
    versions.terminus,
    module,
    [runner, versions.runner].filter(Boolean).join(' '),
    `${platform} ${versions.platform}`,
    runtime ? versions.node : `Node ${versions.node}`,
    versions.typescript,
    result,
  ];
}
