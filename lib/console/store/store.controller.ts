import { Injectable } from '@nestjs/common';
import { SERVED_CALLS, WATCH_ROUTE } from '../api/store-routes.js';
import type { InputOf } from '../api/index.js';
import { clientAbortOf } from '../http/client-abort.js';
import type { Controller, Handler } from '../http/handlers.js';
import { readInput } from '../http/input.js';
import { StoreHost } from './store-host.js';

/** Serves the store to nodes of other applications, which can't reach it directly. See `remote()`. */
@Injectable()
export class StoreController implements Controller {
  readonly handlers: readonly Handler[];

  constructor(host: StoreHost) {
    const calls = [...SERVED_CALLS].map(([route, call]): Handler => ({
      route,
      handle: async (made) => host.answer(call, (await readInput(made)).body, clientAbortOf(made.response)),
    }));
    const watch: Handler = {
      route: WATCH_ROUTE,
      handle: async (made) => {
        const { query } = (await readInput(made)) as InputOf<typeof WATCH_ROUTE>;
        return host.stream(query.prefix, made.response);
      },
    };
    this.handlers = [...calls, watch];
  }
}
