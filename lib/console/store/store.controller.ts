import type { Call } from '../../stores/remote/protocol.js';
import type { InputOf, Route } from '../api/index.js';
import { ClientAbort } from '../http/client-abort.decorator.js';
import { ConsoleController } from '../http/console-controller.decorator.js';
import type { ConsoleResponse } from '../http/console-request.js';
import { Serves, parameter } from '../http/handlers.js';
import { Input, Res } from '../http/input.decorator.js';
import { StoreHost } from './store-host.js';
import { SERVED_CALLS, WATCH_ROUTE } from '../api/store-routes.js';

/** Makes a method the handler of all calls of the protocol. */
const ServesCalls = (): MethodDecorator => (prototype, method, descriptor) => {
  for (const route of SERVED_CALLS.keys()) Serves(route)(prototype, method, descriptor);
};

/** Injects the call that a request is for. */
const Called = () => parameter(({ route }) => SERVED_CALLS.get(route));

/** Serves the store to nodes of other applications, which can't reach it directly. See `remote()`. */
@ConsoleController()
export class StoreController {
  constructor(private readonly host: StoreHost) {}

  @ServesCalls()
  call(@Called() call: Call, @Input() { body }: InputOf<Route>, @ClientAbort() gone: AbortSignal): Promise<object> {
    return this.host.answer(call, body, gone);
  }

  @Serves(WATCH_ROUTE)
  watch(@Input() { query: { prefix } }: InputOf<typeof WATCH_ROUTE>, @Res() response: ConsoleResponse): Promise<void> {
    return this.host.stream(prefix, response);
  }
}
