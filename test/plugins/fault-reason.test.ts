import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import { faultReason } from '../../src/plugins/request-validator.ts';

it.each([
  ['^(?:[Nn][Ee][Ee]|[Jj][Aa])$', '^(?:nee|ja)$'],
  ['^[A-Z][Ab][Aa]', '^[A-Z][Ab]a'],
])('writes letters of either case once in a reason: %s', (pattern, shown) => {
  const validate = new Ajv2020().compile({ type: 'string', pattern });
  expect(validate('?')).toBe(false);
  const [error] = validate.errors ?? [];
  expect(error && faultReason(error)).toBe(`heeft niet de juiste vorm (${shown})`);
});
