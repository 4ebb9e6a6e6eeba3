import { call } from '../api/call.js';
import type { Action } from '../forms/action-dialog.js';
import type { NodeOfType } from './task-types.js';

/** Switches a type off on one node, or on again. */
export function switchAction(type: string, { node, tasks, groups }: NodeOfType, done: () => Promise<void>): Action {
  const isOff = (tasks ?? groups)?.obstacle === 'paused-here';
  const verb = isOff ? 'on' : 'off';
  return {
    title: `Switch ${type} ${verb} on ${node.acquirer}`,
    explanation: isOff
      ? 'The node takes tasks of the type again.'
      : 'The node takes no more tasks of the type until it is switched on again, or restarts: after a restart it takes them again. Running ones go on, and other nodes take the rest.',
    verb: `Switch ${verb}`,
    run: async (reason) => {
      const body = { node: node.instance, reason };
      const { note } = await call(isOff ? 'typeOn' : 'typeOff', { params: { type }, body });
      await done();
      return `${type} is ${verb} on ${node.acquirer}: ${note}.`;
    },
  };
}
