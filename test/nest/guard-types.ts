import { UseGuards, applyDecorators } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { ClusterSingleton, type ClusterSingletonOptions, LeaderOnly } from 'nestjs-gatekeeper';

const asGiven: ClusterSingletonOptions = { onSkip: 'throw' };

/** Guards of several decorators in one, as Nest's documentation makes them. */
function Nightly() {
  return applyDecorators(ClusterSingleton('nightly', '5m'), Cron('0 3 * * *'), UseGuards());
}

/** Never made: the compiler checks it, and a line that is no error fails the type check. */
export class CheckedByTheCompiler {
  @ClusterSingleton('a', '5m')
  async nothing() {}

  @ClusterSingleton('a', '5m')
  async sometimes(isReady: boolean) {
    return isReady ? 1 : undefined;
  }

  @ClusterSingleton('a', '5m')
  @Cron('0 3 * * *')
  async maybe(): Promise<number | undefined> {
    return 1;
  }

  // @ts-expect-error a skipped call resolves to undefined
  @ClusterSingleton('a', '5m')
  async value() {
    return 1;
  }

  // @ts-expect-error null is not undefined
  @ClusterSingleton('a', '5m')
  async nullable(): Promise<number | null> {
    return 1;
  }

  // @ts-expect-error a call always returns a promise
  @ClusterSingleton('a', '5m')
  sync() {}

  // @ts-expect-error a call always returns a promise
  @ClusterSingleton('a', '5m', { onSkip: 'throw' })
  syncValue() {
    return 1;
  }

  // @ts-expect-error a call always returns a promise
  @ClusterSingleton('a', '5m')
  sometimesSync(): number | Promise<number | undefined> {
    return 1;
  }

  @ClusterSingleton('a', '5m', { onSkip: 'throw' })
  async loud() {
    return 1;
  }

  @ClusterSingleton('a', undefined, { onSkip: 'throw', wait: '5s' })
  async loudByDefinition() {
    return 1;
  }

  // @ts-expect-error the options may as well have a callback
  @ClusterSingleton('a', '5m', asGiven)
  async unknownSkip() {
    return 1;
  }

  // @ts-expect-error a callback changes nothing for the caller
  @ClusterSingleton('a', '5m', { onSkip: () => undefined })
  async callback() {
    return 1;
  }

  @ClusterSingleton((tenant: string) => `a-${tenant}`, '5m')
  async perTenant(_tenant: string): Promise<number | undefined> {
    return 1;
  }

  @ClusterSingleton('a', '5m')
  async fails(): Promise<never> {
    throw new Error('always');
  }

  @ClusterSingleton('a', '5m')
  async anything(value: unknown): Promise<unknown> {
    return value;
  }

  @LeaderOnly()
  async lead() {}

  // @ts-expect-error elsewhere a call resolves to undefined
  @LeaderOnly()
  async leaderOf() {
    return 'scope';
  }

  // @ts-expect-error a call always returns a promise
  @LeaderOnly()
  leadSync() {}

  @Nightly()
  async nightly() {}
}
