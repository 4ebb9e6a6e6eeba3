import { ROUTES } from '../api/index.js';
import { ConsoleController } from '../http/console-controller.decorator.js';
import { Serves } from '../http/serves.decorator.js';
import { openApiOf } from './document.js';

/** What the API is, for programs. It is the same for all and tells nothing of this cluster. */
@ConsoleController()
export class OpenApiController {
  readonly #document = openApiOf(Object.values(ROUTES));

  @Serves(ROUTES.openapi)
  document(): ReturnType<typeof openApiOf> {
    return this.#document;
  }
}
