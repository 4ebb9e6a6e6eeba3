import type { HistoryEntry } from 'nestjs-gatekeeper';
import { logsUrlFault } from '../../lib/console/options/logs-url.js';
import { logLink } from '../../lib/console/web/runs/log-link.js';

const AT = Date.UTC(2026, 0, 10, 3);
const run: HistoryEntry = {
  kind: 'run',
  semaphore: 'nightly export',
  job: 'Jobs.export&x=1',
  node: { group: 'a/b', acquirer: '"><script>', instance: 'i-1' },
  at: AT,
  took: 5000,
  outcome: 'failed',
  token: 7,
  slot: 0,
};

const OTHER_SCHEME = 'is neither an http nor an https address';
const NO_ADDRESS = 'is not an address such as "https://logs.example.com/?query={job}"';

describe('the template of addresses of logs', () => {
  it.each([
    ['https://logs.example.com/?q={job}+{acquirer}&from={from}&to={to}', undefined],
    ['http://localhost:3000/{semaphore}/{group}/{instance}/{token}#{fromMs}-{toMs}', undefined],
    ['javascript:alert("{job}")', OTHER_SCHEME],
    ['data:text/html,{job}', OTHER_SCHEME],
    ['{job}', NO_ADDRESS],
    ['/logs/{job}', NO_ADDRESS],
    ['https://{acquirer}.example.com/', 'has a placeholder in its host'],
    ['https://logs.example.com:{token}/', NO_ADDRESS],
    ['https://logs.example.com/{name}', expect.stringContaining('has the unknown placeholder {name}: use semaphore')],
  ])('%s has the fault %s', (template, fault) => {
    expect(logsUrlFault(template)).toEqual(fault);
  });

  it('is filled with encoded values', () => {
    const link = logLink(
      'https://logs.example.com/{semaphore}?q={job}&n={acquirer}&t={token}&from={from}&to={toMs}',
      run,
      0,
    );
    expect(link).toBe(
      'https://logs.example.com/nightly%20export?q=Jobs.export%26x%3D1&n=%22%3E%3Cscript%3E&t=7' +
        `&from=2026-01-10T02%3A59%3A00.000Z&to=${AT + 65_000}`,
    );
  });

  it('gives the present time as the end of a run that goes on, and no token without a permit', () => {
    const { took: _took, outcome: _outcome, token: _token, slot: _slot, ...rest } = run;
    const running: HistoryEntry = { ...rest, kind: 'running', run: 1 };
    expect(logLink('https://logs/?to={toMs}&t={token}', running, AT + 1000)).toBe(`https://logs/?to=${AT + 61_000}&t=`);
  });

  it('never becomes a link of another scheme', () => {
    expect(logLink('javascript:alert(1)', run, 0)).toBeUndefined();
  });
});
