import { describe, expect, it } from '@jest/globals';
import { type PlannedChange, type PlanInput, planMoves } from '../../lib/allocation/plan.js';
import { finish } from './divisions.js';

const input: PlanInput = {
  resources: ['1', '2', '3', '4'],
  participants: [
    { id: 'a', weight: 1 },
    { id: 'b', weight: 1 },
  ],
  current: new Map([
    ['1', 'a'],
    ['2', 'a'],
    ['3', 'b'],
    ['4', 'b'],
  ]),
  pins: new Map(),
};

const plan = (change?: PlannedChange, changes: Partial<PlanInput> = {}) =>
  finish(planMoves({ ...input, ...changes }, change));

describe('a plan of moves', () => {
  it('is empty when all is as it should be', () => {
    expect(plan()).toEqual({
      moves: [],
      shares: [
        { id: 'a', before: 2, after: 2 },
        { id: 'b', before: 2, after: 2 },
      ],
      sentences: [],
    });
  });

  it.each<{ when: string; change: PlannedChange; changes?: Partial<PlanInput>; sentences: string[] }>([
    {
      when: 'a node is drained',
      change: { drain: ['a'] },
      sentences: ['2 resources from a to b: the node is drained'],
    },
    { when: 'a node is lost', change: { lose: ['b'] }, sentences: ['2 resources from b to a: the owner is gone'] },
    {
      when: 'a node joins',
      change: { join: [{ id: 'c', weight: 2 }] },
      sentences: ['1 resource from a to c: for balance', '1 resource from b to c: for balance'],
    },
    {
      when: 'a resource is pinned',
      change: { pin: new Map([['1', 'b']]) },
      sentences: ['1 resource from a to b: pinned', '1 resource from b to a: for balance'],
    },
    {
      when: 'all nodes are drained',
      change: { drain: ['a', 'b'] },
      sentences: [
        '2 resources from a to no node: the node is drained',
        '2 resources from b to no node: the node is drained',
      ],
    },
    {
      when: 'resources have no owner or left the set',
      change: {},
      changes: { resources: ['1', '2', '3', '5'] },
      sentences: ['1 resource from b to no node: no longer in the master set', '1 resource to b: without an owner now'],
    },
    {
      when: 'a pin ends',
      change: { unpin: ['3'] },
      changes: { pins: new Map([['3', 'b']]) },
      sentences: [],
    },
  ])('says what moves and why, when $when', ({ change, changes, sentences }) => {
    expect(plan(change, changes).sentences).toEqual(sentences);
  });

  it('gives each move and the shares before and after', () => {
    expect(plan({ drain: ['a'] })).toMatchObject({
      moves: [
        { resource: '1', from: 'a', to: 'b', why: 'drained' },
        { resource: '2', from: 'a', to: 'b', why: 'drained' },
      ],
      shares: [
        { id: 'a', before: 2, after: 0 },
        { id: 'b', before: 2, after: 4 },
      ],
    });
  });
});
