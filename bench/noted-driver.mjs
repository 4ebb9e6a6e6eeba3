const COLLECTIONS = new Set(['records', 'tasks', 'groups']);

/**
 * A driver whose calls are noted, also those of its collections.
 *
 * @param note gets the method and its first argument
 */
export function notedDriver(driver, note) {
  const noting = {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (COLLECTIONS.has(name)) return new Proxy(value, noting);
      if (typeof value !== 'function') return value;
      return (...parameters) => {
        note(name, parameters[0]);
        return value.apply(target, parameters);
      };
    },
  };
  return new Proxy(driver, noting);
}
