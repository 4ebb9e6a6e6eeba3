import { z } from 'zod';
import { type Method, route } from '../../lib/console/api/operation.js';
import { RouteTable } from '../../lib/console/http/route-table.js';

const served = (method: Method, path: string) => ({ route: route({ method, path, summary: path, answer: z.any() }) });
const table = new RouteTable([
  served('GET', ''),
  served('GET', 'index.html'),
  served('GET', 'api/tasks/failed'),
  served('GET', 'api/tasks/:id'),
  served('POST', 'api/tasks/:id/retry/:attempt'),
]);
const found = (method: string, path: string) => {
  const match = table.find(method, path);
  return match && [match.served.route.path, match.params];
};

describe('the table of the calls', () => {
  it.each([
    ['/', ['', {}]],
    ['/index.html', ['index.html', {}]],
    ['/api/tasks/mail', ['api/tasks/:id', { id: 'mail' }]],
    ['/api/tasks/mail/', ['api/tasks/:id', { id: 'mail' }]],
    ['/API/Tasks/Mail', ['api/tasks/:id', { id: 'Mail' }]],
    ['/api/tasks/a%2Fb', ['api/tasks/:id', { id: 'a%2Fb' }]],
    ['/api/tasks/__proto__', ['api/tasks/:id', { id: '__proto__' }]],
    ['/api/tasks/failed', ['api/tasks/failed', {}]],
    [`/api/tasks/${'x'.repeat(5000)}`, ['api/tasks/:id', { id: 'x'.repeat(5000) }]],
  ])('finds the first one that matches, and the values of its path as they were sent: %s', (path, expected) => {
    expect(found('GET', path)).toEqual(expected);
  });

  it('tells methods apart, and gives HEAD what GET gets', () => {
    expect(found('POST', '/api/tasks/a/retry/2')).toEqual(['api/tasks/:id/retry/:attempt', { id: 'a', attempt: '2' }]);
    expect(found('GET', '/api/tasks/a/retry/2')).toBeUndefined();
    expect(found('HEAD', '/api/tasks/failed')).toEqual(['api/tasks/failed', {}]);
    expect(found('OPTIONS', '/api/tasks/failed')).toBeUndefined();
  });

  it.each([
    '',
    '//',
    '/indexAhtml',
    '/api/tasks/',
    '/api/tasks//',
    '/api/tasks/a/b',
    '/x/api/tasks/a',
    '/api/tasks/a//',
  ])('finds nothing elsewhere: "%s"', (path) => {
    expect(found('GET', path)).toBeUndefined();
  });

  it('names the first parts of all paths, for routers with wildcards', () => {
    expect(table.roots()).toEqual(['/', '/index.html', '/api/*']);
  });
});
