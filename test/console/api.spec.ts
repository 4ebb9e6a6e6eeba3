import { describeApi } from './api.contract.js';
import { PLATFORMS, useConsoles } from './consoles.js';

describe.each(PLATFORMS)('the API of the console on %s', (platform) => {
  const start = useConsoles();
  describeApi(() => start({ platform }));
});
