import type { ChangeOptions, Gatekeeper } from 'nestjs-gatekeeper';
import { remove } from '../../lib/core/decision/index.js';
import { DefinitionWriter } from '../../lib/operate/definitions/index.js';
import { partsOf } from '../../lib/gatekeeper/parts.js';

/**
 * Removes a definition as if no living node's code had it: the node whose code has it started a moment later. The
 * library refuses a removal that comes after its start.
 *
 * @returns false if there was none
 */
export function removed(gatekeeper: Gatekeeper, name: string, options: ChangeOptions = {}): Promise<boolean> {
  const { directory, audit, context } = partsOf(gatekeeper);
  const writer = new DefinitionWriter(directory.cells.visit, directory.declared, audit, context);
  return writer.write('remove', name, options, {
    rewriting: (record, ...rest) => record && remove(record, ...rest),
    done: () => true,
    unchanged: () => false,
  });
}
