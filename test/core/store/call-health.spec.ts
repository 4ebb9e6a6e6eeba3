import { CallHealth } from '../../../lib/core/store/call-health.js';
import { StoreUnavailableError } from '../../../lib/core/store/store.errors.js';

describe('Health by the last calls', () => {
  let connections: number;
  let health: CallHealth;

  beforeEach(() => {
    connections = 0;
    health = new CallHealth(() => void connections++);
  });

  it('waits for the first answer', () => {
    const problem = 'the first attempt to connect is under way';
    expect(health.health()).toEqual({ connected: false, members: 0, quorum: 0, problem });
    expect(health.answered('answer')).toBe('answer');
    expect(health.health(3)).toEqual({ connected: true, members: 3, quorum: 0 });
  });

  it('has the problem of the last call, until one is answered', () => {
    const error = new StoreUnavailableError('no server answers');
    health.answered(1);
    expect(health.failed(error)).toBe(error);
    expect(health.health()).toEqual({ connected: false, members: 0, quorum: 0, problem: 'no server answers' });
    health.answered(2);
    expect(health.health()).toEqual({ connected: true, members: 1, quorum: 0 });
  });

  it('stays connected when the store refuses a call, and has its problem', () => {
    const error = new StoreUnavailableError('no right to write');
    health.answered(1);
    expect(health.refused(error)).toBe(error);
    expect(health.health()).toEqual({ connected: true, members: 1, quorum: 0, problem: 'no right to write' });
    health.answered(2);
    expect(health.health()).toEqual({ connected: true, members: 1, quorum: 0 });
    expect(connections).toBe(1);
  });

  it('tells of each connection once', () => {
    health.answered(1);
    health.answered(2);
    expect(connections).toBe(1);
    health.failed(new Error('lost'));
    health.failed(new Error('lost again'));
    health.answered(3);
    expect(connections).toBe(2);
  });

  it('stays closed, also when a call is answered late', () => {
    health.assertOpen();
    health.answered(1);
    health.close();
    health.close();
    health.answered(2);
    expect(() => health.assertOpen()).toThrow(StoreUnavailableError);
    expect(health.health()).toEqual({ connected: false, members: 0, quorum: 0, problem: 'the store is closed' });
    expect(connections).toBe(1);
  });
});
