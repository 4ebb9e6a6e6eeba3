import { type AlertsOptions, memory, parseGatekeeperOptions } from 'nestjs-gatekeeper';
import { SECRET } from './receiver.js';

const parse = (alerts: unknown) => parseGatekeeperOptions({ store: memory(), alerts: alerts as AlertsOptions }).alerts!;
const faultOf = (webhook: object) => {
  try {
    parse({ webhooks: [{ url: 'https://example.org/x', secret: SECRET, ...webhook }] });
  } catch (error) {
    return (error as Error).message;
  }
  return 'none';
};

const NO_ADDRESS = 'url: is not an address';

describe('options of alerts', () => {
  it('have defaults', () => {
    const [webhook] = parse({ webhooks: [{ url: 'https://example.org/hook', secret: SECRET }] }).webhooks;
    expect(webhook).toMatchObject({ name: 'example.org', format: 'standard', timeout: 5000, allowHttp: false });
  });

  it.each([
    ['http to another machine', { url: 'http://example.org/x', allowHttp: true }, 'url: uses http, and its host'],
    ['http to this machine without consent', { url: 'http://127.0.0.1/x' }, 'url: uses http: set allowHttp'],
    ['another protocol', { url: 'file:///etc/passwd' }, NO_ADDRESS],
    ['no address', { url: 'example' }, NO_ADDRESS],
    ['a password in the address', { url: 'https://a:b@example.org' }, 'url: has a user or a password'],
    ['no secret', { secret: undefined }, 'secret: is missing'],
    ['a short secret', { secret: 'whsec_aGlkZGVu' }, 'secret: must be "whsec_"'],
    ['an unknown kind', { kinds: ['fire'] }, 'kinds.0: "fire" is not'],
    ['a long timeout', { timeout: '1m' }, 'timeout: is longer than 30 s'],
  ])('refuse %s', (_what, webhook, fault) => {
    expect(faultOf(webhook)).toContain(fault);
  });

  it.each(['http://localhost:1/x', 'http://127.0.0.1/x', 'http://[::1]:80/x'])('allow %s with consent', (url) => {
    expect(faultOf({ url, allowHttp: true })).toBe('none');
  });

  it('need no secret for Slack, whose address is one', () => {
    expect(faultOf({ secret: undefined, format: 'slack' })).toBe('none');
  });

  it('never show a secret or an address in an error', () => {
    const text = faultOf({ secret: 'whsec_aGlkZGVu', url: 'ftp://hidden.example.org/hidden' });
    expect(text).not.toMatch(/hidden|aGlkZGVu/);
  });

  it('refuse two receivers of one name', () => {
    const webhook = { url: 'https://example.org/x', secret: SECRET };
    expect(() => parse({ webhooks: [webhook, webhook] })).toThrow('two webhooks of one name');
  });
});
