/** Dutch suppliers read a report in Dutch: every rule, and every fault that a model can find. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { describeError } from '../../../../src/gegevens/import/faults.ts';
import { modelFaultInDutch } from '../../../../src/gegevens/tools/check/model-faults.ts';
import { DUTCH_WHAT, reportWords } from '../../../../src/gegevens/tools/check/report-words.ts';
import { addStandardFormats } from '../../../../src/lib/json/formats.ts';
import { messageFile } from '../../support/messages.ts';
import { check, message, shvLevering, traject } from './support.ts';

const ENGLISH =
  /\b(the|must|not|have|more|than|fewer|should|has|both|its|with|without|day|two|another|found|unexpected|file|record larger)\b/i;
const UNKNOWN = 'past niet in het model';

describe('the wording of a report', () => {
  it('is Dutch for all sixteen rules and the model', () => {
    for (const rule of ['model', ...Array.from({ length: 16 }, (_, i) => i + 1)] as const) {
      const [dutch, english] = [reportWords.nl.ruleText(rule), reportWords.en.ruleText(rule)];
      expect(dutch).not.toBe('');
      expect(english).not.toBe('');
      expect(dutch).not.toBe(english);
      expect(dutch).not.toMatch(ENGLISH);
    }
  });

  it('is Dutch for everything that the rules say about a place', () => {
    const all = Object.keys(DUTCH_WHAT);
    expect(all.length).toBeGreaterThan(20);
    for (const what of all) {
      const dutch = reportWords.nl.what(what);
      expect(reportWords.en.what(what)).toBe(what);
      expect(dutch, what).not.toContain(UNKNOWN);
      expect(dutch, what).not.toMatch(ENGLISH);
    }
  });

  it('is Dutch for every fault that a validator finds', () => {
    const ajv = new Ajv2020({ allErrors: true, strict: false });
    addStandardFormats(ajv);
    const values: readonly (readonly [schema: object, value: unknown])[] = [
      ...['string', 'object', 'array', 'boolean', 'integer', 'number', 'null'].map(
        (type) => [{ type }, type === 'null' ? 1 : null] as const,
      ),
      [{ type: ['string', 'null'] }, 1],
      [{ required: ['naam'] }, {}],
      [{ properties: {}, additionalProperties: false }, { x: 1 }],
      [{ enum: ['a', 'b'] }, 'c'],
      [{ const: 1 }, 2],
      [{ pattern: '^a$' }, 'b'],
      ...['date', 'date-time', 'email', 'uri', 'uuid'].map((format) => [{ format }, '?'] as const),
      [{ minLength: 2 }, 'a'],
      [{ maxLength: 1 }, 'ab'],
      [{ minItems: 1 }, []],
      [{ maxItems: 1 }, [1, 2]],
      [{ uniqueItems: true }, [1, 1]],
      [{ minProperties: 1 }, {}],
      [{ maxProperties: 0 }, { x: 1 }],
      [{ minimum: 1 }, 0],
      [{ maximum: 1 }, 2],
      [{ exclusiveMinimum: 1 }, 1],
      [{ exclusiveMaximum: 1 }, 1],
      [{ multipleOf: 0.5 }, 0.3],
    ];
    for (const [schema, value] of values) {
      const validate = ajv.compile(schema);
      expect(validate(value), JSON.stringify(schema)).toBe(false);
      const [error] = validate.errors ?? [];
      if (error === undefined) throw new Error('a fault without an error');
      // The name of an unknown member is not shown.
      const english = describeError(error).replace(/(does not know): .*/, '$1');
      const dutch = modelFaultInDutch(`line 3: ${english}`);
      expect(dutch, english).toMatch(/^regel 3 van het bestand: /);
      expect(dutch, english).not.toContain(UNKNOWN);
      expect(dutch, english).not.toMatch(ENGLISH);
    }
  });

  it.each([
    ['not JSON', 'is geen JSON'],
    ["not JSON: unexpected '}'", "is geen JSON: daar staat '}', en dat kan daar niet"],
    ['not JSON: unexpected end of text', 'is geen JSON: de tekst houdt te vroeg op'],
    ['not JSON: unexpected character', 'is geen JSON: daar staat een ongeldig teken'],
    ['unexpected byte 7', 'is geen JSON: daar staat het byte 7, en dat kan daar niet'],
    ['the file ends too early', 'het bestand houdt te vroeg op'],
    ['more than 64 levels deep', 'heeft te veel niveaus'],
    ['a record larger than 9 bytes', 'een record is groter dan 9 bytes'],
    [
      'more than 9 bytes outside records: is this a file of this variant?',
      'meer dan 9 bytes buiten de records: is dit een bestand van deze variant?',
    ],
    ['a member occurs twice', 'een onderdeel staat er twee keer in'],
    ['occurs twice in the list', 'staat twee keer in de lijst'],
    ['is not valid UTF-8', 'is geen geldige UTF-8'],
    ['is not a date that can be stored', 'is geen datum die kan worden opgeslagen'],
    ['must match a schema in anyOf', UNKNOWN],
  ])('says about a file: %s', (english, dutch) =>
    expect(modelFaultInDutch(`line 1: ${english}`)).toBe(`regel 1 van het bestand: ${dutch}`),
  );
});

it('is Dutch on a page, or English on request', async () => {
  const wrong = traject({ schuldregeling: { dwangakkoord: true }, begeleiding: [{ soort: 'Anders' }] });
  const path = messageFile(message([shvLevering([wrong])]));
  const dutch = (await check(['--variant', 'shv', '--html', path])).stdout;
  expect(dutch).toMatch(/^<!DOCTYPE html>\n<html lang="nl">\n/);
  for (const shown of [
    '<h1>Controle van een levering, SHV</h1>',
    '2026-01-01 tot en met 2026-03-31',
    '2 blokkerend, 1 waarschuwing: kan zo niet worden geleverd',
    '<span class="severity blocking">blokkerend</span> model, 1 keer: de levering past in het uitwisselmodel',
    'regel 1 van het bestand: moet een van deze zijn: &quot;Budgetcoaching&quot;',
    'regel 6, 1 keer: een dwangakkoord is alleen waar als',
    '<th scope="col">actieve personen</th>',
    '<th scope="col">onbekend</th>',
  ])
    expect(dutch).toContain(shown);
  expect(dutch).not.toMatch(/\b(the|must|is not|records? (are|were)|found|persons|rule)\b/i);
  const english = (await check(['--variant', 'shv', '--html', '--language', 'en', path])).stdout;
  expect(english).toMatch(/^<!DOCTYPE html>\n<html lang="en">\n/);
  expect(english).toContain('2 blocking, 1 warning: not ready to be delivered');
  // --language implies a page.
  const short = await check(['--variant', 'shv', '--language', 'en', path]);
  expect(short.stdout.replace(/<dd>.* UTC<\/dd>/, '')).toBe(english.replace(/<dd>.* UTC<\/dd>/, ''));
  expect(await check(['--variant', 'shv', '--language', 'fr', path])).toMatchObject({ status: 2 });
});
