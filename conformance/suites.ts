import type { SuiteDescription } from './case.ts';
import { GEGEVENS } from './gegevens/suite.ts';
import { LDV } from './ldv/suite.ts';
import { RAADSFEED } from './raadsfeed/suite.ts';
import { RAADSFEED_CONSUMER } from './raadsfeed-consumer/suite.ts';
import { RAADSFEED_PUBLISH } from './raadsfeed-publish/suite.ts';
import { REQUESTER } from './requester/suite.ts';
import { SIGNATURES } from './signature/suite.ts';
import { VERWERKINGENLOG } from './verwerkingenlog/suite.ts';

export const SUITES: readonly SuiteDescription[] = [
  GEGEVENS,
  REQUESTER,
  SIGNATURES,
  RAADSFEED,
  RAADSFEED_PUBLISH,
  RAADSFEED_CONSUMER,
  VERWERKINGENLOG,
  LDV,
];
