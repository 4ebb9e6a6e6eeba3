import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** The licences of the packages that went into the bundle: they ask to be handed on with it. */
export async function noticesOf(root, inputs) {
  const packages = new Set(
    inputs.map((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]).filter(Boolean),
  );
  const notices = await Promise.all([...packages].toSorted().map((name) => noticeOf(root, name)));
  return notices.join('\n\n');
}

async function noticeOf(root, name) {
  const folder = join(root, 'node_modules', name);
  const { version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const file = (await readdir(folder)).find((each) => /^licen[cs]e/i.test(each));
  if (!file) throw new Error(`${name} is bundled and has no file with its licence`);
  return `${name} ${version} (${license})\n\n${await readFile(join(folder, file), 'utf8')}`;
}
