/** The fields of a verwerkingsactie come from the contract. A part that does not pass one on would lose it. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type {
  NieuweVerwerkingsactie,
  VerwerktObject as SentObject,
  Verwerkingsactie,
} from '../../src/client/verwerkingenlog.ts';
import type { components } from '../../src/contracts/verwerkingenlog.ts';
import { isRecord } from '../../src/lib/json/json-value.ts';
import { readOpenapi } from '../../src/lib/openapi-document.ts';
import { moment, withOffset } from '../../src/lib/time.ts';
import type { ProcessedPerson, ProcessingEntry } from '../../src/plugins/processing-headers.ts';
import type { Actie, VerwerktObject } from '../../src/verwerkingenlog/domain/verwerkingsactie.ts';
import { VERSIE_COLUMNS } from '../../src/verwerkingenlog/store/versions.ts';

type Schemas = components['schemas'];
/** The fields that a caller writes, without those set by the log itself. */
type Written = Exclude<keyof Schemas['VerwerkingsactieInvoer'], 'url' | 'actieId' | 'tijdstipRegistratie'>;
type WrittenOfObject = Exclude<keyof Schemas['VerwerktObjectInvoer'], 'url' | 'verwerktObjectId'>;
/** Internally, categories of data are a list of words, and there is one type of object. */
type Kept = Exclude<WrittenOfObject, 'objecttype' | 'verwerkteSoortenGegevens'> | 'soortenGegevens';

const ROOT = join(import.meta.dirname, '../..');
const CONTRACT = readOpenapi(new URL('../../openapi/verwerkingenlog.yaml', import.meta.url));

/** Members of a schema of the contract. */
function properties(name: string): [name: string, schema: unknown][] {
  const schema = CONTRACT.components?.schemas?.[name];
  if (!isRecord(schema) || !isRecord(schema.properties)) throw new Error(`the contract has no ${name}`);
  return Object.entries(schema.properties);
}

/** Those that a caller writes. */
function writable(name: string): string[] {
  return properties(name)
    .filter(([, schema]) => !isRecord(schema) || schema.readOnly !== true)
    .map(([member]) => member);
}

it('the fields are declared in the contract alone, from which code takes their types', () => {
  const declaring = globSync('src/**/*.ts', { cwd: ROOT }).filter((path) =>
    /^\s*(readonly )?verwerkingIdAfnemer\??: (string|null|components)\b/m.test(readFileSync(join(ROOT, path), 'utf8')),
  );
  expect(declaring).toEqual(['src/contracts/verwerkingenlog.ts']);
});

it('the fields of an action are the same for the client, for another area and in the store', () => {
  expectTypeOf<keyof NieuweVerwerkingsactie>().toEqualTypeOf<Written>();
  expectTypeOf<keyof ProcessingEntry>().toEqualTypeOf<Written>();
  // The offset of `tijdstip` is stored beside its time.
  expectTypeOf<Exclude<keyof Actie, 'tijdstipOffset'>>().toEqualTypeOf<Written>();
  expectTypeOf<Verwerkingsactie>().toEqualTypeOf<Schemas['Verwerkingsactie']>();
});

it('the fields of a processed person are the same for the client, for another area and in the store', () => {
  expectTypeOf<keyof SentObject>().toEqualTypeOf<WrittenOfObject>();
  expectTypeOf<keyof ProcessedPerson>().toEqualTypeOf<Kept>();
  expectTypeOf<keyof VerwerktObject>().toEqualTypeOf<Kept>();
});

describe("a caller's fields", () => {
  it('are returned in their own offset, at the same instant', () => {
    const date = fc.date({ min: new Date('1000-01-01'), max: new Date('9000-01-01'), noInvalidDate: true });
    const part = (most: number) => fc.integer({ min: 0, max: most }).map((value) => String(value).padStart(2, '0'));
    const minutes = fc.oneof(fc.constant('00'), part(59));
    fc.assert(
      fc.property(date, fc.constantFrom('+', '-'), part(23), minutes, (at, sign, hours, after) => {
        const offset = `${sign}${hours}:${after}`;
        const written = withOffset(moment(at), offset);
        expect(written).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?[+-]\d\d:\d\d$/);
        expect(written.endsWith(offset)).toBe(true);
        expect(new Date(written)).toEqual(at);
      }),
    );
  });

  const written = writable('VerwerkingsactieInvoer');

  it('are all stored', () => {
    const columns: string[] = VERSIE_COLUMNS.map(([, , member]) => member);
    // The objects are a separate column, which is sometimes read in part.
    expect(written.filter((field) => !columns.includes(field))).toEqual(['verwerkteObjecten']);
  });

  it('are all returned', () => {
    expect(properties('Verwerkingsactie').map(([member]) => member)).toEqual(expect.arrayContaining(written));
    expect(properties('VerwerktObject').map(([member]) => member)).toEqual(
      expect.arrayContaining(writable('VerwerktObjectInvoer')),
    );
  });
});
