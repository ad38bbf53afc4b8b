/**
 * Checks `publiccode.yml` against version 0.7 of the standard: its required keys, their types and their values. The standard's validator is
 * a Go program; the rules that apply to our file are repeated here.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import { parse } from 'yaml';

const ROOT = join(import.meta.dirname, '..');
const file: unknown = parse(readFileSync(join(ROOT, 'publiccode.yml'), 'utf8'));

const text = { type: 'string', minLength: 1 };
const words = { type: 'array', minItems: 1, items: text };
const dependency = {
  type: 'object',
  required: ['name'],
  additionalProperties: false,
  properties: { name: text, versionMin: text, versionMax: text, version: text, optional: { type: 'boolean' } },
};
const SCHEMA = {
  type: 'object',
  required: [
    'publiccodeYmlVersion',
    'name',
    'url',
    'platforms',
    'developmentStatus',
    'softwareType',
    'description',
    'legal',
    'maintenance',
    'localisation',
  ],
  additionalProperties: false,
  properties: {
    publiccodeYmlVersion: { const: '0.7' },
    name: text,
    url: { type: 'string', pattern: '^https://' },
    softwareVersion: text,
    releaseDate: { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}$' },
    platforms: words,
    categories: { type: 'array', items: { enum: ['data-collection', 'data-analytics', 'document-management'] } },
    developmentStatus: { enum: ['concept', 'development', 'beta', 'stable', 'obsolete'] },
    softwareType: { const: 'standalone/backend' },
    intendedAudience: {
      type: 'object',
      additionalProperties: false,
      properties: {
        countries: { type: 'array', items: { type: 'string', pattern: '^[A-Z]{2}$' } },
        scope: { type: 'array', items: { enum: ['government', 'local-authorities'] } },
      },
    },
    description: {
      type: 'object',
      required: ['en', 'nl'],
      additionalProperties: {
        type: 'object',
        required: ['shortDescription', 'longDescription', 'features'],
        additionalProperties: false,
        properties: {
          shortDescription: { type: 'string', minLength: 1, maxLength: 150 },
          longDescription: { type: 'string', minLength: 150, maxLength: 10_000 },
          features: words,
        },
      },
    },
    legal: {
      type: 'object',
      required: ['license'],
      additionalProperties: false,
      properties: { license: { const: 'EUPL-1.2' } },
    },
    maintenance: {
      type: 'object',
      required: ['type'],
      additionalProperties: false,
      properties: { type: { const: 'none' } },
    },
    localisation: {
      type: 'object',
      required: ['localisationReady', 'availableLanguages'],
      additionalProperties: false,
      properties: { localisationReady: { type: 'boolean' }, availableLanguages: words },
    },
    dependsOn: {
      type: 'object',
      additionalProperties: false,
      properties: { open: { type: 'array', items: dependency }, proprietary: false, hardware: false },
    },
  },
};

it('is valid by version 0.7 of the standard', () => {
  const validate = new Ajv2020({ allErrors: true, strict: false }).compile(SCHEMA);
  validate(file);
  expect(validate.errors ?? []).toEqual([]);
});

it('has the version and the licence of the package', () => {
  const own: unknown = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  expect(own).toMatchObject({ license: 'EUPL-1.2' });
  expect(file).toMatchObject({ softwareVersion: Object(own).version });
});
