/** The generated types match the current contracts. `.ci/run` regenerates and compares all of them. */
import { readFileSync } from 'node:fs';
import { expect, expectTypeOf, it } from 'vitest';
import { CONTRACTS, typesFile, typesHeader } from '../../scripts/contract-types.ts';
import type { operations as Feed } from '../../src/contracts/raadsfeed.ts';
import type { components, operations as Log } from '../../src/contracts/verwerkingenlog.ts';
import type { AnswerOf, RequestOf } from '../../src/plugins/contract.ts';

it.each(CONTRACTS)('the types of %s were generated from the current contract (npm run contract-types)', (name) => {
  expect(readFileSync(typesFile(name), 'utf8').split('\n\n', 1)[0]).toBe(typesHeader(name).trimEnd());
});

it('an operation id types the request and the answer', () => {
  expectTypeOf<RequestOf<Feed['getFeed']>['query']['limit']>().toEqualTypeOf<number>();
  expectTypeOf<RequestOf<Log['putVerwerkingsactie']>['headers']['if-match']>().toEqualTypeOf<string | undefined>();
  expectTypeOf<RequestOf<Log['putVerwerkingsactie']>['params']>().toEqualTypeOf<{ readonly actieId: string }>();
  expectTypeOf<RequestOf<Log['postVerwerkingsactie']>['body']['tijdstip']>().toEqualTypeOf<string>();
  expectTypeOf<AnswerOf<Log['postVerwerkingsactie']>>().toEqualTypeOf<components['schemas']['Verwerkingsactie']>();
  expectTypeOf<AnswerOf<Log['deleteVerwerkingsactie']>>().toEqualTypeOf<never>();
});
