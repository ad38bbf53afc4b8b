import { Problem } from '../kernel/problem.ts';
import type { CursorFault } from './domain/cursor.ts';
import { raadsfeedProblems } from './problems.ts';

const REASONS = {
  onleesbaar: 'is geen cursor die hier gegeven is',
  'andere-feed': 'is niet van deze feed',
  'voor-de-geschiedenis': 'ligt voor de geschiedenis die bewaard is',
  'verder-dan-de-feed': 'ligt verder dan deze feed is',
  'andere-geschiedenis': 'is van een geschiedenis die deze feed niet meer heeft',
} as const satisfies Record<CursorFault | string, string>;

/** The problem of a cursor, or of a `Last-Event-ID`, that cannot be followed; it says where to begin anew. */
export function invalidCursor(why: keyof typeof REASONS, name: 'cursor' | 'Last-Event-ID' = 'cursor'): Problem {
  const reason = REASONS[why];
  return new Problem(raadsfeedProblems.invalidCursor, {
    detail: `De plaats in \`${name}\` ${reason}. Begin opnieuw bij /snapshot.`,
    invalidParams: [{ name, code: why, reason }],
  });
}
