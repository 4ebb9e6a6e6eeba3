import type { HintQueue, SortedTexts, TaskStorage, Texts } from '../../../core/store/task-storage.js';
import { MapTexts, SortedMapTexts } from './map-texts.js';
import { QueueHints } from './queue-hints.js';
import type { TaskCalls } from './task-calls.js';

/**
 * Tasks in the map `<mapName>.tasks` with a sorted index, groups in the map `<mapName>.groups`, hints in queues
 * `<mapName>.ready.<name>`. They are created on their first use, so an application without tasks has none of them.
 *
 * The members' configuration decides how many backups there are: by default one, and two for the maps of the shipped
 * hazelcast.yaml. With `cp: true` or `acquisition: 'pessimistic'`, tasks are kept in these maps without locks all the
 * same.
 */
export class HazelcastTasks implements TaskStorage {
  readonly tasks: SortedTexts;
  readonly groups: Texts;

  constructor(
    private readonly mapName: string,
    private readonly calls: TaskCalls,
  ) {
    this.tasks = new SortedMapTexts(`${mapName}.tasks`, calls);
    this.groups = new MapTexts(`${mapName}.groups`, calls);
  }

  queue(name: string): HintQueue {
    return new QueueHints(`${this.mapName}.ready.${name}`, this.calls);
  }
}
