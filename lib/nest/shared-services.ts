import { type DynamicModule, type ExistingProvider, Logger, type Type } from '@nestjs/common';
import { incompatibleVersions, shared } from '../core/copies/shared.js';
import { VERSION } from '../core/copies/version.js';
import { OTHER_VERSIONS } from './messages.js';

/** The classes of services in all loaded copies of this package, by their names in the sources. */
const all = shared('services', () => new Map<string, Set<Type>>());
/** Those of this copy. */
const own = new Map<string, Type>();

/**
 * Lets a service be injected by its class in any copy of this package: see {@link withAliases}.
 *
 * @param name of the class in the sources. A bundler may rename the class
 */
export function SharedService(name: string) {
  return (service: Type): void => {
    own.set(name, service);
    all.set(name, classesOf(name).add(service));
  };
}

/** The classes of a service in all loaded copies. */
export function classesOf(name: string): Set<Type> {
  return all.get(name) ?? new Set();
}

/**
 * Gives the services of a module also to parts of the application that inject them by the classes of another copy. By
 * getters: Nest reads them when it scans the application. Then all other copies have been loaded.
 */
export function withAliases(module: DynamicModule): DynamicModule {
  const { providers = [], exports = [] } = module;
  let isChecked = false;
  return {
    ...module,
    get providers() {
      // Nest may read it several times.
      if (!isChecked) warnOfOtherVersions();
      isChecked = true;
      return [...providers, ...aliases()];
    },
    get exports() {
      return [...exports, ...aliases().map(({ provide }) => provide)];
    },
  };
}

/** Here, because Nest fails soon after the scan if a service of such a version is injected, and its error names no version. */
function warnOfOtherVersions(): void {
  const others = incompatibleVersions();
  if (others.length > 0) new Logger('Gatekeeper').warn(OTHER_VERSIONS(VERSION, others));
}

function aliases(): ExistingProvider<unknown>[] {
  return [...own].flatMap(([name, service]) =>
    [...classesOf(name)]
      .filter((other) => other !== service)
      .map((other) => ({ provide: other, useExisting: service })),
  );
}
