import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { GatekeeperError, InvalidOptionsError, ReservedNameError } from '../../../lib/core/decision/index.js';
import {
  NoQuorumError,
  StoreUnavailableError,
  UnknownOutcomeError,
  isStoreError,
} from '../../../lib/core/store/store.errors.js';
import { InvalidTaskError } from '../../../lib/tasks/rules/tasks.errors.js';
import { secondCopyOf } from '../../support/second-copy.js';

const LIB = fileURLToPath(new URL('../../../lib/', import.meta.url));

type Stores = typeof import('../../../lib/core/store/store.errors.js');
type Tasks = typeof import('../../../lib/tasks/rules/tasks.errors.js');
type Decision = typeof import('../../../lib/core/decision/invalid-options.error.js') &
  typeof import('../../../lib/core/decision/reserved-names.js');

const other = await secondCopyOf<Stores & Tasks & Decision>([
  'core/store/store.errors.ts',
  'tasks/rules/tasks.errors.ts',
  'core/decision/invalid-options.error.ts',
  'core/decision/reserved-names.ts',
]);

describe('an error of another copy of the package, in a bundle with short names', () => {
  it('is an instance of the class of the same name, and of its base classes', () => {
    const error: unknown = new other.NoQuorumError('too few members');
    expect(error).toBeInstanceOf(NoQuorumError);
    expect(error).toBeInstanceOf(StoreUnavailableError);
    expect(error).toBeInstanceOf(GatekeeperError);
    expect(new other.ReservedNameError('x', [])).toBeInstanceOf(InvalidOptionsError);
    expect(isStoreError(new other.UnknownOutcomeError('lost'))).toBe(true);
  });

  it('is no instance of any other class', () => {
    const error: unknown = new other.StoreUnavailableError('gone');
    expect(error).not.toBeInstanceOf(NoQuorumError);
    expect(error).not.toBeInstanceOf(UnknownOutcomeError);
    expect(error).not.toBeInstanceOf(InvalidTaskError);
    expect(new other.InvalidOptionsError('x', [])).not.toBeInstanceOf(ReservedNameError);
  });

  it('has the name of its class as its sources say it', () => {
    expect(new other.InvalidTaskError('no such order').name).toBe('InvalidTaskError');
    expect(String(new other.InvalidTaskError('no such order'))).toBe('InvalidTaskError: no such order');
  });

  it('is also known to the other copy', () => {
    expect(new UnknownOutcomeError('lost')).toBeInstanceOf(other.UnknownOutcomeError);
  });
});

describe('instanceof', () => {
  class GoneError extends StoreUnavailableError {}
  class OtherError extends StoreUnavailableError {}

  it('takes the error of an application for what it extends', () => {
    expect(new GoneError('gone')).toBeInstanceOf(StoreUnavailableError);
    expect(new GoneError('gone').name).toBe('GoneError');
  });

  it('tells the errors of an application by their classes', () => {
    expect(new GoneError('gone')).toBeInstanceOf(GoneError);
    expect(new StoreUnavailableError('gone')).not.toBeInstanceOf(GoneError);
    expect(new OtherError('gone')).not.toBeInstanceOf(GoneError);
  });

  it.each([
    undefined,
    null,
    'unknown-outcome',
    {},
    Object.create(null),
    new Error('x'),
    { code: 'unavailable', className: 'StoreUnavailableError' },
  ])('takes %p for no error of this package', (value: unknown) => {
    expect(value instanceof GatekeeperError).toBe(false);
    expect(value instanceof StoreUnavailableError).toBe(false);
  });
});

describe('the classes of errors', () => {
  const classes = readdirSync(LIB, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.startsWith('console/web/'))
    .flatMap((file) => [
      ...readFileSync(LIB + file, 'utf8').matchAll(
        /class (\w+) extends (\w+Error) \{\s*(?:static override readonly className(?:: string)? = '(\w+)';)?/g,
      ),
    ])
    .filter(([, , base]) => base !== undefined && base !== 'Error');

  it.each(classes.map(([, name, , className]) => [name, className]))('%s names itself', (name, className) => {
    expect(className).toBe(name);
  });

  it('are all different', () => {
    const names = classes.map(([, name]) => name);
    expect(names.length).toBeGreaterThan(50);
    expect(new Set(names).size).toBe(names.length);
  });
});
