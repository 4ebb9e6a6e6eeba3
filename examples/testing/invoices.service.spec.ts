import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Test, type TestingModule } from '@nestjs/testing';
import { single } from 'nestjs-gatekeeper';
import { GatekeeperTestingModule, TestTasks } from 'nestjs-gatekeeper/testing';
import { InvoicesService, invoice } from './invoices.service.js';

describe('InvoicesService', () => {
  let tasks: TestTasks;
  let module: TestingModule;
  let service: InvoicesService;
  beforeEach(async () => {
    tasks = new TestTasks({ startAt: new Date('2030-01-31T20:00:00Z') });
    module = await Test.createTestingModule({
      imports: [GatekeeperTestingModule.forNode(tasks.node())],
      providers: [InvoicesService],
    }).compile();
    await module.init(); // the handlers begin to work
    service = module.get(InvoicesService);
  });
  afterEach(() => module.close());

  it('writes an invoice, and reminds after two weeks', async () => {
    const { state, result } = await tasks.run(single(invoice, 'a-1'), { order: 'a-1' });
    expect({ state, result }).toEqual({ state: 'completed', result: { pages: 1 } });
    expect(tasks.submitted.map(({ id }) => id)).toEqual(['invoice:a-1', 'reminder:a-1']);
    await tasks.advance('14d');
    expect(service.log).toContain('sent reminder:a-1');
  });

  it('tries an invoice three times, and counts it as failed in its month', async () => {
    jest.spyOn(service, 'print').mockRejectedValue(new Error('out of paper'));
    await service.bill('june', ['a-1', '']);
    await tasks.idle(); // the first attempts have ended
    expect(await tasks.find('invoice[june]#1')).toMatchObject({ state: 'delayed', attempts: 1 });
    await tasks.runAll(); // until nothing is left to do
    expect(tasks.deadLetters()).toMatchObject([
      { id: 'invoice[june]#2', state: 'invalid', lastError: { message: 'no order' } },
      { id: 'invoice[june]#1', state: 'failed', attempts: 3, lastError: { message: 'out of paper' } },
    ]);
    expect(tasks.attemptsOf('invoice[june]#1').map(({ outcome }) => outcome)).toEqual(['again', 'again', 'failed']);
    expect(service.log).toEqual(['june: 0 of 2 invoices']);
  });

  it('bills every month', async () => {
    await tasks.advance('8h');
    expect(service.log).toEqual(['printed a-1', 'printed a-2', '2030-02: 2 of 2 invoices']);
  });

  it('writes an invoice on another node when a node crashes', async () => {
    const other = tasks.node({ acquirer: 'other' });
    const otherModule = await Test.createTestingModule({
      imports: [GatekeeperTestingModule.forNode(other)],
      providers: [InvoicesService],
    }).compile();
    const stuck = jest.spyOn(otherModule.get(InvoicesService), 'print').mockReturnValue(new Promise(() => undefined));
    await otherModule.init();
    await service.bill(
      'june',
      Array.from({ length: 10 }, (_, index) => `a-${index}`),
    );
    await tasks.advance('1s');
    expect(stuck).toHaveBeenCalled();
    await tasks.crash(other);
    await tasks.runAll();
    expect(service.log).toContain('june: 10 of 10 invoices');
    await otherModule.close();
  });
});
