import { Controller, Injectable, Scope } from '@nestjs/common';
import { ClusterSingleton, GroupFinishedHandler, InvalidTaskHandler, LeaderOnly, TaskHandler } from 'nestjs-gatekeeper';
import { bootError, useApps } from '../support/apps.js';
import { refusedNaming } from '../support/refused.js';

const { boot } = useApps();

describe('handlers that can not work', () => {
  it('keep the application from booting, and one error lists them all', async () => {
    @Injectable()
    class Wrong {
      @TaskHandler('mail')
      one() {}

      @TaskHandler('mail')
      @TaskHandler('no type')
      two() {}

      @GroupFinishedHandler('mail', { lease: '1ms' })
      three() {}

      @InvalidTaskHandler()
      four() {}

      @InvalidTaskHandler()
      five() {}
    }
    @Controller({ scope: Scope.REQUEST })
    class Requests {
      @TaskHandler('request')
      six() {}
    }
    const error = await bootError(boot({ providers: [Wrong], controllers: [Requests] }));
    expect(error).toMatchObject({
      code: 'invalid-options',
      faults: [
        expect.stringContaining('Requests.six handles tasks, but its controller is in request scope'),
        expect.stringMatching(/^Wrong\.two: type: "no type"/),
        expect.stringContaining('Wrong.two handles tasks "mail", and Wrong.one does so already'),
        expect.stringMatching(/^Wrong\.three: lease: /),
        expect.stringMatching(/^Wrong\.five .* Wrong\.four /),
      ],
    });
  });

  it('keep the application from booting with a guard that would skip a task and complete it', async () => {
    @Injectable()
    class Skipping {
      @LeaderOnly()
      @TaskHandler('one')
      async one() {}

      @GroupFinishedHandler('two')
      @LeaderOnly()
      async two() {}

      @ClusterSingleton('three', '10s')
      @TaskHandler('three')
      async three() {}

      @TaskHandler('four')
      @ClusterSingleton('four', '10s', { onSkip: () => undefined })
      async four() {}

      @TaskHandler('five')
      @ClusterSingleton('five', '10s', { onSkip: 'throw' })
      async five() {}
    }
    const error = await bootError(boot({ providers: [Skipping] }));
    expect(error).toMatchObject({
      code: 'invalid-options',
      faults: [
        expect.stringContaining('Skipping.one handles tasks and has @LeaderOnly'),
        expect.stringMatching(/^Skipping\.two .* @LeaderOnly/),
        expect.stringContaining("Skipping.three handles tasks and has @ClusterSingleton without onSkip: 'throw'"),
        expect.stringMatching(/^Skipping\.four .* @ClusterSingleton/),
      ],
    });
  });

  it('are refused at once on a static method or a getter', () => {
    const descriptor = (value: unknown) => ({ value }) as TypedPropertyDescriptor<() => void>;
    class Statics {
      static run() {}
    }
    expect(() => TaskHandler('mail')(Statics, 'run', descriptor(Statics.run))).toThrow(refusedNaming(/ Statics\.run/));
    expect(() => TaskHandler('mail')(Statics.prototype, 'subject', {})).toThrow(refusedNaming(/ subject$/));
  });
});
