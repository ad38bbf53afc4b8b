import { readSubject } from '../raadsfeed/subject.ts';
import { RAADSFEED } from '../raadsfeed/suite.ts';
import type { CaseResult } from '../run-suite.ts';
import { runCases } from './run-cases.ts';

/** They wait to see what a stream sends. */
export const WAITING = ['C-STR-09', 'C-STR-12'];
/** Cases for an aggregator or register only, and for a busy service. */
export const NOT_OFFERED = ['C-SVC-10', 'C-SVC-16', 'C-REC-20', 'C-ERR-08'];

/** Runs the cases against an address, as fast as it answers. */
export function runRaadsfeed(url: string, isWanted: (id: string) => boolean): Promise<readonly CaseResult[]> {
  return runCases({ suite: RAADSFEED, tested: url, isWanted, open: (client) => readSubject(url, client) });
}
