import type { AssignRequest } from '../../lib/allocation/assign/assign.js';
import { AllocationStrategyError } from '../../lib/allocation/allocation.errors.js';
import type { StrategyFunction, StrategyInput } from '../../lib/allocation/assign/strategy.js';
import { assigned, ownersAfter } from './divisions.js';

const request: AssignRequest = {
  resources: ['a', 'b', 'c'],
  participants: [
    { id: 'n1', weight: 1 },
    { id: 'n2', weight: 2 },
    { id: 'drained', weight: 0 },
  ],
  current: new Map([['a', 'n2']]),
};

describe("the application's own strategy", () => {
  it('gets what is free to divide, and decides', () => {
    let input: StrategyInput | undefined;
    const strategy: StrategyFunction = (given) => {
      input = given;
      return given.resources.map((resource) => [resource, 'n1'] as const);
    };
    const pinned = { ...request, strategy, pins: new Map([['b', 'n2']]) };
    expect(ownersAfter(pinned, assigned(pinned))).toEqual(
      new Map([
        ['a', 'n1'],
        ['b', 'n2'],
        ['c', 'n1'],
      ]),
    );
    expect(input!.resources).toEqual(['a', 'c']);
    expect(input!.participants.map(({ id }) => id)).toEqual(['n1', 'n2']);
  });

  it('is not called when no participant may own anything, so that a drain of all nodes takes everything away', () => {
    const strategy: StrategyFunction = ({ resources, participants }) =>
      resources.map((resource, at) => [resource, participants[at % participants.length]!.id] as const);
    const participants = request.participants.map(({ id }) => ({ id, weight: 0 }));
    expect(assigned({ ...request, participants, strategy })).toMatchObject({
      revoke: [{ resource: 'a', from: 'n2', why: 'drained' }],
      grant: [],
    });
  });

  it.each<{ result: unknown; fault: string }>([
    {
      result: [
        ['a', 'n1'],
        ['b', 'n1'],
      ],
      fault: 'resource "c" is missing (1 of 3 are)',
    },
    {
      result: [
        ['a', 'n1'],
        ['a', 'n2'],
        ['b', 'n1'],
        ['c', 'n1'],
      ],
      fault: 'resource "a" is given twice',
    },
    { result: [['x', 'n1']], fault: '"x" is not a resource of its input' },
    { result: [['a', 'gone']], fault: 'resource "a": "gone" is not a living participant with a weight above 0' },
    { result: [['a', 'drained']], fault: 'resource "a": "drained" is not' },
    { result: ['a'], fault: '"a" is not a pair [resource, participant]' },
    { result: undefined, fault: 'it threw: ' },
    { result: endless(), fault: 'resource "a" is given twice' },
  ])('is refused with a sentence: $fault', ({ result, fault }) => {
    const strategy = () => result as ReturnType<StrategyFunction>;
    const dividing = () => assigned({ ...request, strategy });
    expect(dividing).toThrow(`the result of the allocation strategy can't be used: ${fault}`);
  });

  it('is refused with the cause, when it throws', () => {
    const cause = new Error('no plan');
    const strategy = () => {
      throw cause;
    };
    expect(() => assigned({ ...request, strategy })).toThrow(
      expect.objectContaining({ constructor: AllocationStrategyError, cause, code: 'invalid-strategy' }),
    );
  });
});

function* endless(): Generator<[string, string]> {
  for (;;) yield ['a', 'n1'];
}
