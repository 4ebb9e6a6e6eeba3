/** Size of the package and number of packages that it brings, with their bounds. A growth over a bound needs a reason. */

/** Files; packed and unpacked bytes; packages that `npm install` adds for it: its dependencies and theirs, without peers. */
export const BOUNDS = {
  files: 120,
  // The declarations have the description of each field, and the docs have generated tables.
  packed: 1_550_000,
  unpacked: 6_000_000,
  dependencies: 11,
};

/**
 * Counts the packages that one package brings.
 *
 * @param packages of a package-lock.json
 * @param name of the package
 */
export function dependenciesOf(packages, name) {
  const found = new Set();
  const queue = [`node_modules/${name}`];
  for (const path of queue) {
    const { dependencies = {}, optionalDependencies = {} } = packages[path];
    for (const each of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const resolved = resolve(packages, path, each);
      if (resolved === undefined || found.has(resolved)) continue;
      found.add(resolved);
      queue.push(resolved);
    }
  }
  return [...found].toSorted();
}

/** As Node does: in the folder of the package itself, then in those around it. */
function resolve(packages, from, name) {
  for (let folder = from; ; folder = folder.slice(0, folder.lastIndexOf('/node_modules/'))) {
    const path = `${folder}/node_modules/${name}`;
    if (path in packages) return path;
    if (!folder.includes('/node_modules/')) return [`node_modules/${name}`].find((each) => each in packages);
  }
}

/** A sentence for each figure that is over its bound. */
export function growth(figures, bounds = BOUNDS) {
  return Object.keys(bounds)
    .filter((name) => figures[name] > bounds[name])
    .map((name) => `${name}: ${figures[name]} is more than ${bounds[name]}, the bound in tools/pack-check/size.mjs`);
}
