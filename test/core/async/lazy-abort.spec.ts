import { LazyAbort } from '../../../lib/core/async/lazy-abort.js';

describe('a signal that is made when it is asked for', () => {
  it('aborts with the first reason', () => {
    const abort = new LazyAbort();
    const { signal } = abort;
    const heard = jest.fn();
    signal.addEventListener('abort', heard);
    const reason = new Error('first');
    abort.abort(reason);
    abort.abort(new Error('second'));
    expect(heard).toHaveBeenCalledTimes(1);
    expect(signal.reason).toBe(reason);
    expect(abort.reason).toBe(reason);
  });

  it('is aborted if it is asked for after the abort', () => {
    const abort = new LazyAbort();
    abort.abort(() => new Error('over'));
    expect(abort.isAborted).toBe(true);
    expect(abort.signal.aborted).toBe(true);
    expect(abort.signal.reason).toBe(abort.reason);
  });

  it('makes no error that is never looked at, and one that is', () => {
    const abort = new LazyAbort();
    const makeReason = jest.fn(() => new Error('over'));
    abort.abort(makeReason);
    expect(abort.isAborted).toBe(true);
    expect(makeReason).not.toHaveBeenCalled();
    expect(() => abort.throwIfAborted()).toThrow('over');
    expect(abort.reason).toBe(abort.signal.reason);
    expect(makeReason).toHaveBeenCalledTimes(1);
  });

  it('is not aborted before', () => {
    const abort = new LazyAbort();
    abort.throwIfAborted();
    expect(abort.signal.aborted).toBe(false);
    expect(abort.reason).toBeUndefined();
  });
});
