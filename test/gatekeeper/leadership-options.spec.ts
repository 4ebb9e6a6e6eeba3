import { memory, parseGatekeeperOptions } from 'nestjs-gatekeeper';

const store = memory();

describe('the options of leadership', () => {
  it.each([
    [{ scopes: [] }, 'leadership.scopes: is empty: give at least one scope'],
    [{ scopes: ['a', 'a'] }, 'leadership.scopes: has a scope twice'],
    [{ scopes: 'main' }, 'leadership.scopes: "main" is not a list of names'],
    [{ scopes: ['x'.repeat(194)] }, 'is longer than 193 characters'],
    [{ scopes: ['a\nb'] }, 'leadership.scopes.0: '],
    [{ scopes: [7] }, 'leadership.scopes.0: 7 is not text'],
    [{ lease: '1s' }, 'leadership.lease: 1000 ms '],
    [{ lease: 'soon' }, 'leadership.lease: "soon"'],
    [{ enabled: 'yes' }, 'leadership.enabled: "yes"'],
    [{ scope: 'main' }, 'leadership.scope: '],
    [5, 'leadership: 5 '],
  ])('that are wrong are named: %j', (leadership, fault) => {
    const parse = () => parseGatekeeperOptions({ store, leadership: leadership as never });
    expect(parse).toThrow(fault);
  });

  it('have defaults', () => {
    const defaults = { enabled: false, scopes: ['default'], lease: 10_000 };
    expect(parseGatekeeperOptions({ store }).leadership).toEqual(defaults);
    expect(parseGatekeeperOptions({ store, leadership: { lease: '20s' } }).leadership.lease).toBe(20_000);
  });
});
