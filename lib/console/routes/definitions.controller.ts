import { type DefinitionState } from '../../gatekeeper/index.js';
import { GatekeeperService } from '../../nest/gatekeeper.service.js';
import { type InputOf, ROUTES } from '../api/index.js';
import { ConsoleController } from '../http/console-controller.decorator.js';
import { Input, User } from '../http/input.decorator.js';
import { Serves } from '../http/handlers.js';

/** Changes definitions, with the visitor's name as the author. */
@ConsoleController()
export class DefinitionsController {
  constructor(private readonly gatekeeper: GatekeeperService) {}

  @Serves(ROUTES.define)
  define(@Input() { body }: InputOf<typeof ROUTES.define>, @User() by: string): Promise<DefinitionState> {
    const { reason, ...definition } = body;
    return this.gatekeeper.definitions.define(definition, { reason, by });
  }

  @Serves(ROUTES.edit)
  edit(@Input() { params: { name }, body }: InputOf<typeof ROUTES.edit>, @User() by: string): Promise<DefinitionState> {
    const { reason, expectedRevision, ...changes } = body;
    return this.gatekeeper.definitions.edit(name, changes, { reason, expectedRevision, by });
  }

  @Serves(ROUTES.pause)
  pause(
    @Input() { params: { name }, body }: InputOf<typeof ROUTES.pause>,
    @User() by: string,
  ): Promise<DefinitionState> {
    return this.gatekeeper.definitions.pause(name, { ...body, by });
  }

  @Serves(ROUTES.resume)
  resume(
    @Input() { params: { name }, body }: InputOf<typeof ROUTES.resume>,
    @User() by: string,
  ): Promise<DefinitionState> {
    return this.gatekeeper.definitions.resume(name, { ...body, by });
  }

  @Serves(ROUTES.reset)
  reset(
    @Input() { params: { name }, body }: InputOf<typeof ROUTES.reset>,
    @User() by: string,
  ): Promise<DefinitionState> {
    return this.gatekeeper.definitions.reset(name, { ...body, by });
  }

  @Serves(ROUTES.remove)
  async remove(
    @Input() { params: { name }, body }: InputOf<typeof ROUTES.remove>,
    @User() by: string,
  ): Promise<{ removed: boolean }> {
    return { removed: await this.gatekeeper.definitions.remove(name, { ...body, by }) };
  }

  @Serves(ROUTES.revoke)
  async revoke(
    @Input() { params: { name }, body: { permitId, reason } }: InputOf<typeof ROUTES.revoke>,
    @User() by: string,
  ): Promise<{ revoked: boolean }> {
    return { revoked: await this.gatekeeper.definitions.revoke(name, permitId, { reason, by }) };
  }
}
