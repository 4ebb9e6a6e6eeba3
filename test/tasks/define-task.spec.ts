import { defineTask, grouped, single } from 'nestjs-gatekeeper';

const mail = defineTask<{ to: string }, void>('mail', { priority: 'high' });

describe('a defined task', () => {
  it('gives its type and options to the names of its tasks', () => {
    expect(single(mail, 'order-7')).toEqual({ type: 'mail', id: 'mail:order-7', defaults: { priority: 'high' } });
    expect(grouped(mail, 'june', 2, 3)).toEqual({
      type: 'mail',
      id: 'mail[june]#2',
      member: { group: 'june', number: 2, total: 3 },
      defaults: { priority: 'high' },
    });
    expect(single('mail', 'order-7').id).toBe(single(mail, 'order-7').id);
  });

  it.each([
    ['a type', () => defineTask('no type'), '"no type" is not 1 to 64 letters'],
    ['an option', () => defineTask('mail', { retention: '1s' }), 'retention: '],
    ['an unknown option', () => defineTask('mail', { retries: 3 } as object), 'retries'],
    ['a type that is none', () => single(undefined as never, 'a'), 'type: undefined is not'],
  ])('refuses %s that can not be used', (_what, make, fault) => {
    expect(make).toThrow(fault);
  });
});
