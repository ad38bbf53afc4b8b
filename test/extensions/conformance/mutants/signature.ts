/** Messages at rest that are wrong. */

import type { RuleName } from '../../../../src/extensions/conformance/signature/rule.ts';
import { RULES } from '../../../../src/extensions/conformance/signature/rules.ts';
import { SIGNATURES } from '../../../../src/extensions/conformance/signature/suite.ts';
import type { Mutant } from './mutant.ts';
import { SIGNATURE_FAULTS } from './signature-faults.ts';

const CASES = SIGNATURES.chapters.flatMap(({ cases }) => cases);

export const SIGNATURE_MUTANTS: readonly Mutant<RuleName>[] = Object.keys(RULES)
  .filter((name): name is RuleName => Object.hasOwn(RULES, name))
  .flatMap((name) => {
    const id = CASES.find(({ title }) => RULES[name].title === title)?.id;
    const fault = SIGNATURE_FAULTS[name];
    return id === undefined || fault === undefined ? [] : [{ kills: id, what: fault[0], mutation: name }];
  });
