import type { AddressInfo } from 'node:net';
import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { FenceService } from '../../examples/guarded-resource/nest/fence.service.js';
import { permitHeader } from '../../examples/guarded-resource/nest/permit-token.decorator.js';
import { Rendering, ReportsController } from '../../examples/guarded-resource/nest/reports.controller.js';
import type { PermitToken } from '../../examples/guarded-resource/permit-token.js';
import { EARLIER, LATER, gate } from './permits.js';

describe('a Nest service that keeps the highest token', () => {
  let app: INestApplication;
  let url: string;
  let render: (text: string) => Promise<string>;

  beforeEach(async () => {
    render = async (text) => text;
    const testing = Test.createTestingModule({
      controllers: [ReportsController],
      providers: [FenceService, { provide: Rendering, useValue: { render: (text: string) => render(text) } }],
    });
    app = (await testing.compile()).createNestApplication();
    await app.listen(0, '127.0.0.1');
    url = `http://127.0.0.1:${(app.getHttpServer().address() as AddressInfo).port}/reports`;
  });
  afterEach(() => app.close());

  const put = async (id: string, text: string, permit?: PermitToken): Promise<{ status: number; message?: string }> => {
    const headers = { 'content-type': 'application/json', ...(permit && permitHeader(permit)) };
    const answer = await fetch(`${url}/${id}`, { method: 'PUT', headers, body: JSON.stringify({ text }) });
    const { message } = (answer.ok ? {} : await answer.json()) as { message?: string };
    return { status: answer.status, message };
  };
  const textOf = async (id: string) => ((await (await fetch(`${url}/${id}`)).json()) as { text?: string }).text;

  it('takes a fresh token, and the same one again', async () => {
    expect((await put('monday', 'draft', EARLIER)).status).toBe(200);
    expect((await put('monday', 'final', EARLIER)).status).toBe(200);
    expect((await put('monday', 'new', LATER)).status).toBe(200);
    expect(await textOf('monday')).toBe('new');
  });

  it('answers 409 to a stale one, with both tokens', async () => {
    await put('monday', 'new', LATER);

    const { status, message } = await put('monday', 'old', EARLIER);

    expect(status).toBe(409);
    expect(message).toContain(`token ${EARLIER.token}`);
    expect(message).toContain(`${LATER.token} has been here`);
    expect(await textOf('monday')).toBe('new');
  });

  it('answers 409 to one that became stale while its request was worked on', async () => {
    const { reached, pass, open } = gate();
    render = async (text) => (text === 'old' ? pass().then(() => text) : text);
    const old = put('monday', 'old', EARLIER);
    await reached;
    await put('monday', 'new', LATER);
    open();

    expect((await old).status).toBe(409);
    expect(await textOf('monday')).toBe('new');
  });

  it('asks nothing of the tokens of other slots and semaphores', async () => {
    await put('slot-1', 'new', { ...LATER, slot: 1 });
    await put('mailing', 'new', { ...LATER, semaphore: 'mailing' });

    expect((await put('slot-0', 'old', EARLIER)).status).toBe(200);
  });

  it('takes any name of a semaphore, and no request without a token', async () => {
    expect((await put('monday', 'new', { ...LATER, semaphore: 'tenant/7 é' })).status).toBe(200);

    const { status, message } = await put('monday', 'unfenced');
    expect(status).toBe(400);
    expect(message).toContain('x-permit: missing');
  });
});
