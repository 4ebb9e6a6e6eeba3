import { readChoice } from '../../../sample-app/src/run/choice.js';

describe('the command line of the sample', () => {
  it.each([
    [[], { store: 'embedded' }],
    [['--store', 'postgres'], { store: 'postgres' }],
    [['--store=redis', '--url', 'redis://a'], { store: 'redis', url: 'redis://a' }],
    [['--store', 'hazelcast'], { store: 'hazelcast' }],
  ])('%j chooses %j', (args, choice) => {
    expect(readChoice(args, {})).toEqual(choice);
  });

  it.each([
    [['--store', 'mysql'], {}, '--store mysql is no store of the sample: use embedded, hazelcast, postgres or redis'],
    [['--stoer', 'redis'], {}, "Unknown option '--stoer'. The options are --store and --url"],
    [['postgres'], {}, "Unexpected argument 'postgres'. The options are"],
    [['--url', 'redis://a'], {}, '--url needs --store postgres or --store redis'],
    [['--store', 'hazelcast', '--url', 'a'], {}, 'name members in HAZELCAST_MEMBERS'],
    [[], { npm_config_store: 'redis' }, 'npm took --store for itself: write "--" before it'],
  ])('%j with %j is refused: %s', (args, env, message) => {
    expect(() => readChoice(args, env)).toThrow(message);
  });
});
