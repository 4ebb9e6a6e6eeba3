// Takes a permit that it has to wait for, refreshes it and releases it, with the generated client.
import { Configuration, PermitsApi, type Problem, ResponseError } from './client/index';

const { GATEKEEPER_URL: basePath, GATEKEEPER_TOKEN: accessToken } = process.env;
const permits = new PermitsApi(new Configuration({ basePath, accessToken }));
const semaphore = 'job';

try {
  await permits.takePermit({ takePermitRequest: { semaphore, holder: 'typescript', duration: 5000 } });
} catch (error) {
  if (!(error instanceof ResponseError)) throw error;
  const problem = (await error.response.json()) as Problem;
  console.log('denied', problem.reason);
}

const takePermitRequest = { semaphore, holder: 'typescript', duration: 5000, wait: '30s' };
const { id, token } = await permits.takePermit({ takePermitRequest });
console.log('granted', token);

const refreshed = await permits.refreshPermit({ id, refreshPermitRequest: { semaphore, token } });
console.log('refreshed', refreshed.token);

const { released } = await permits.releasePermit({ id, releasePermitRequest: { semaphore } });
console.log('released', released);
