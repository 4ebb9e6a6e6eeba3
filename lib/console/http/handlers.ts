import type { Route } from '../api/index.js';
import type { ConsoleCall } from './console-request.js';

/** Returns the value of a parameter of a handler. */
type Read = (call: ConsoleCall) => unknown;

/** A method of a controller that answers the calls of one route. */
export interface Handler {
  readonly route: Route;
  /** @returns the answer; nothing if the handler has begun to send one itself, as a stream does */
  handle(call: ConsoleCall): Promise<unknown>;
}

/** By prototype of the controller, in the order of its methods. */
const served = new WeakMap<object, { readonly method: PropertyKey; readonly route: Route }[]>();
/** By prototype of the controller and name of the method. */
const parameters = new WeakMap<object, Map<PropertyKey, Read[]>>();

/** Makes a method of a controller the handler of a route. A method may have several. */
export function Serves(route: Route): MethodDecorator {
  return (prototype, method) => {
    served.set(prototype, [...(served.get(prototype) ?? []), { method, route }]);
  };
}

/** Makes a decorator that gives a parameter of a handler the value that `read` returns, or resolves to. */
export function parameter(read: Read): ParameterDecorator {
  return (prototype, method, index) => {
    const ofController = parameters.get(prototype) ?? new Map<PropertyKey, Read[]>();
    const reads = ofController.get(method!) ?? [];
    reads[index] = read;
    parameters.set(prototype, ofController.set(method!, reads));
  };
}

/** Returns the handlers of a controller. */
export function handlersOf(controller: object): Handler[] {
  const prototype: object = Object.getPrototypeOf(controller);
  return (served.get(prototype) ?? []).map(({ method, route }) => {
    const reads = parameters.get(prototype)?.get(method) ?? [];
    const handle = async (call: ConsoleCall): Promise<unknown> => {
      const values: unknown[] = [];
      // Not all of them together, nor `await` of each: Fastify's response has a `then`, which waits until it is sent.
      for (const value of reads.map((read) => read(call))) values.push(value instanceof Promise ? await value : value);
      return (controller as Record<PropertyKey, (...values: unknown[]) => unknown>)[method]!(...values);
    };
    return { route, handle };
  });
}
