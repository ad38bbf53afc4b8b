/** Every suite, in the order of the documentation. */
import type { SuiteDescription } from './case.ts';
import { GEGEVENS } from './gegevens/suite.ts';
import { RAADSFEED } from './raadsfeed/suite.ts';
import { RAADSFEED_CONSUMER } from './raadsfeed-consumer/suite.ts';

export const SUITES: readonly SuiteDescription[] = [GEGEVENS, RAADSFEED, RAADSFEED_CONSUMER];
