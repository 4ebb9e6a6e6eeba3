import { TypeBudgets } from '../../lib/tasks/external/type-budgets.js';

const many = (count: number, prefix = 'type') => Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

describe('the types that programs name', () => {
  it('are limited by program, and those that were not named for ten minutes do not count', () => {
    let now = 0;
    const budgets = new TypeBudgets({ monotonic: () => now });
    budgets.expect('ann', many(1000));
    expect(() => budgets.expect('ann', ['mail'])).toThrow(expect.objectContaining({ code: 'too-many-types' }));
    budgets.expect('ann', ['type-7', 'type-8']);
    budgets.expect('bob', many(1000, 'other'));
    now = 300_000;
    budgets.expect('ann', ['type-7']);
    now = 600_000;
    budgets.expect('ann', ['mail', ...many(998, 'new')]);
    expect(() => budgets.expect('ann', ['one-more'])).toThrow(expect.objectContaining({ code: 'too-many-types' }));
  });

  it('are forgotten with their program if many others name types', () => {
    const budgets = new TypeBudgets({ monotonic: () => 0 });
    budgets.expect('ann', many(1000));
    for (let index = 0; index < 200; index++) budgets.expect(`program-${index}`, ['mail']);
    budgets.expect('ann', ['mail']);
  });
});
