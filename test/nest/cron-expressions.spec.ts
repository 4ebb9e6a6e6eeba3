import { CronTime } from 'cron';

/** The column of `cron` in docs/from-node-cron.md. */
describe('the package cron, which reads the expressions of schedules', () => {
  it('takes a day of the month or a day of the week, where node-cron wants both', () => {
    const days = new CronTime('0 0 13 * 5', 'UTC').sendAt(12).map(({ day, weekday }) => ({ day, weekday }));
    const [friday, thirteenth] = [days.filter(({ weekday }) => weekday === 5), days.filter(({ day }) => day === 13)];
    expect(friday.length).toBeGreaterThan(thirteenth.length);
    expect(thirteenth.some(({ weekday }) => weekday !== 5)).toBe(true);
    expect(days.every(({ day, weekday }) => day === 13 || weekday === 5)).toBe(true);
  });

  it.each(['0 0 L * *', '0 0 L-3 * *', '0 0 15W * *', '0 0 LW * *', '0 0 * * 5#2', '0 0 * * 5L', '0 0 ? * 5'])(
    'refuses %s',
    (expression) => {
      expect(() => new CronTime(expression, 'UTC')).toThrow(/alias|parsed/);
    },
  );

  it.each(['@daily', '*/5 * * * *', '30 0 3 * * 1-5', '0 0 1 jan,jul *'])('reads %s', (expression) => {
    expect(new CronTime(expression, 'UTC').sendAt(1)).toHaveLength(1);
  });
});
