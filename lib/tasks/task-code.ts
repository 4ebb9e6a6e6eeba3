import { LazyCode } from '../core/async/lazy-code.js';

/** The code that works on tasks. It is loaded before tasks are opened. */
export const taskCode = new LazyCode(() => import('./engine.js'));

export type TaskCode = typeof import('./engine.js');
