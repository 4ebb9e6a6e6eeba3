import { Injectable, type OnModuleInit } from '@nestjs/common';
import { systemClock } from '../../core/async/node-clock.js';
import { inSlices } from '../../core/async/slices.js';
import { compileInPieces } from '../../core/decision/index.js';

/** Patterns for which RE2 loads its tables, or runs code that V8 has not compiled yet. */
const FIRST_PATTERNS = ['a', 'a|b', '[a-z]x', 'a{1,3}', '(a|b)*', '(?i)host', '\\pL', '(host|[a-z]{1,30}x*){1,9}'];

/** Compiles patterns at boot. The first pattern of a process takes 20 to 40 ms, and would block requests later. */
@Injectable()
export class PatternWarmUp implements OnModuleInit {
  async onModuleInit(): Promise<void> {
    await inSlices(compileInPieces(FIRST_PATTERNS), systemClock);
  }
}
