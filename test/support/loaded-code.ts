import * as groups from '../../lib/allocation/local-group.js';
import { groupCode } from '../../lib/allocation/lazy-group.js';
import * as engine from '../../lib/tasks/engine.js';
import { taskCode } from '../../lib/tasks/task-code.js';

/* An import of this file loads what applications load when they first use it. Where time stands still, no import would end. */
taskCode.set(engine);
groupCode.set(groups);
