import { Injectable, type OnModuleInit } from '@nestjs/common';
import { systemClock } from '../../async/node-clock.js';
import { inSlices } from '../../async/slices.js';
import { compileInPieces } from '../../decision/index.js';

/** Each makes RE2 load tables, or runs code that V8 has not compiled yet. */
const FIRST_PATTERNS = ['a', 'a|b', '[a-z]x', 'a{1,3}', '(a|b)*', '(?i)host', '\\pL', '(host|[a-z]{1,30}x*){1,9}'];

/** The first pattern of a process takes 20 to 40 ms: compiled before requests come, it blocks none of them. */
@Injectable()
export class PatternWarmUp implements OnModuleInit {
  async onModuleInit(): Promise<void> {
    await inSlices(compileInPieces(FIRST_PATTERNS), systemClock);
  }
}
