// Not from the index, because that also loads Nest, which takes long.
import { ROUTES } from '../../console/api/routes.js';
import { RouteTable } from '../../console/http/route-table.js';
import { otherShape } from '../../stores/remote/other-shape.js';

const CALLS = new RouteTable(Object.values(ROUTES).map((route) => ({ route })));

/**
 * Compares an answer with the console's document. Only kinds of values count: a newer console may have more fields, and values
 * that this version does not know.
 *
 * @param path of the call, such as "/api/semaphores"
 * @returns what the answer is, if it has another shape
 */
export function otherShapeOf(answer: unknown, method: string, path: string): string | undefined {
  const parsed = CALLS.find(method, path)?.served.route.answer.safeParse(answer);
  const fault = parsed?.error?.issues.find(({ code }) => code === 'invalid_type');
  return fault && otherShape(answer, fault.path);
}
