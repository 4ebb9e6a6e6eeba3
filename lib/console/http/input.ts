import { checkInput } from '../api/check-input.js';
import { type InputOf, LARGEST_BODY, type Route, expectSeen } from '../api/index.js';
import { bodyOf } from './body.js';
import { clientAbortOf } from './client-abort.js';
import { type ConsoleCall, visitorOf } from './console-request.js';

/**
 * Reads and checks the input of a call. A refusal lists every fault.
 *
 * @throws InvalidOptionsError, ProblemError, or the reason of the client's signal if it went away
 */
export async function readInput(call: ConsoleCall): Promise<InputOf<Route>> {
  const { route, request, response } = call;
  const body = route.body && (await bodyOf(request, route.largestBody ?? LARGEST_BODY));
  const sent = { params: { ...(request.params as object) }, query: { ...(request.query as object) }, body };
  const input = await checkInput(route, sent, clientAbortOf(response));
  expectSeen(visitorOf(call), input.params, input.query, input.body);
  return input;
}
