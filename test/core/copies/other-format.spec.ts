import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { GatekeeperModule, memory } from 'nestjs-gatekeeper';
import { VERSION } from '../../../lib/core/copies/version.js';
import { secondCopyOf } from '../../support/second-copy.js';
import { useBoot } from './boot.js';

/** A later version, which shares nothing with this one. */
const newer = await secondCopyOf<typeof import('nestjs-gatekeeper')>(['index.ts'], { version: '7.1.0', format: 99 });

describe('a second copy of another format', () => {
  const boot = useBoot();
  it('is named with both versions if the application uses one of its decorators', async () => {
    @Injectable()
    class Handlers {
      @newer.TaskHandler('mail')
      async mail() {}
    }
    const booting = boot([Handlers]);
    await expect(booting).rejects.toThrow('Handlers.mail');
    await expect(booting).rejects.toThrow('7.1.0');
    await expect(booting).rejects.toThrow(VERSION);
  });

  it('is named with both versions before Nest finds no service for it', async () => {
    const lines: string[] = [];
    const log = (line: string) => void lines.push(line);
    const logger = { log, warn: log, error: log };

    @Injectable()
    class Jobs {
      @newer.ClusterSingleton('job', '10s')
      async run() {}
    }
    const imports = [GatekeeperModule.forRoot({ store: memory() })];
    const compiling = Test.createTestingModule({ imports, providers: [Jobs] })
      .setLogger(logger)
      .compile();
    await expect(compiling).rejects.toThrow("can't resolve dependencies of the Jobs");
    expect(lines.filter((line) => line.includes('7.1.0') && line.includes(VERSION))).toHaveLength(1);
  });
});
