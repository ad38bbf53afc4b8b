/** Ways to break exactly one rule of an otherwise valid delivery. */

import { isRecord, type JsonObject } from '../../json/json-value.ts';
import type { Variant } from '../mapping.ts';
import { vsNames } from './vs-record.ts';

export interface Breaking {
  /** As `gegevens check` names it. */
  readonly rule: number | 'model';
  readonly what: string;
  readonly envelop?: (envelop: JsonObject) => JsonObject;
  /** @param index of the levering */
  readonly head?: (head: JsonObject, index: number) => JsonObject;
  /** Of the first levering. @param first record of it */
  readonly record?: (record: JsonObject, place: number, first: JsonObject) => JsonObject;
  readonly zaak?: (zaak: JsonObject, place: number) => JsonObject;
}

/** Records that a delivery must have to break a rule. */
export const LEAST_TO_BREAK = 8;

type Step = string | number;

/** The object with another value at a path; `undefined` removes it. */
function set(object: JsonObject, [step = '', ...rest]: readonly Step[], value: unknown): JsonObject {
  const child = object[step];
  if (rest.length === 0) {
    const { [step]: _, ...others } = object;
    return value === undefined ? others : { ...object, [step]: value };
  }
  if (!Array.isArray(child)) return { ...object, [step]: set(isRecord(child) ? child : {}, rest, value) };
  const [index, ...inItem] = rest;
  return {
    ...object,
    [step]: child.map((item, at) => (at === index && isRecord(item) ? set(item, inItem, value) : item)),
  };
}

type Change = Omit<Breaking, 'rule' | 'what'>;

const inRecord = (...changes: readonly (readonly [readonly Step[], unknown])[]): Change => ({
  record: (record, place) =>
    place === 0 ? changes.reduce((made, [path, value]) => set(made, path, value), record) : record,
});
const inHead = (path: readonly Step[], value: unknown): Change => ({
  head: (head, index) => (index === 0 ? set(head, path, value) : head),
});
const inZaak = (path: readonly Step[], value: unknown): Change => ({
  zaak: (zaak, place) => (place === 0 ? set(zaak, path, value) : zaak),
});
const UNNAMED: Change = { envelop: (envelop) => set(envelop, ['codeGegevensleverancier'], 'GL987654') };
const NOBODY = [{ naam: 'Afdeling gegevens' }];
const WRONG_NUMBER = '999990018';

type Breaks = Readonly<Record<string, readonly [what: string, change: Change]>>;

const SHV: Breaks = {
  'model-member': ['an unknown member', inRecord([['onbekendLid'], 1])],
  'model-required': ['no teller', inHead(['teller'], undefined)],
  'model-type': ['an amount as text', inRecord([['schulden', 0, 'bedrag'], '100'])],
  'model-date': ['a day that does not exist', inRecord([['schulden', 0, 'peildatum'], '2026-02-30'])],
  'model-value': ['another reason', inRecord([['uitstroom', 'reden'], 'Anders'])],
  'model-items': ['no client in the list', inRecord([['client'], []])],
  1: ['a municipality with a KvK number', inHead(['aanleverende_organisatie', 'KvK-nummer'], '90000003')],
  2: ['a blank gemeentecode', inRecord([['gemeentecode'], ' '])],
  3: ['records for two municipalities in one levering', inRecord([['gemeentecode'], 'GM8999'])],
  4: ['a code in place of product and version', UNNAMED],
  5: ['another beschikkingsdatum', inRecord([['intake', 'beschikkingsdatum'], '2000-01-01'])],
  6: [
    'a dwangakkoord without a date',
    inRecord([['toekenningsdatum'], undefined], [['schuldregeling'], { dwangakkoord: true }]),
  ],
  7: ['another Naam', inRecord([['schulden', 0, 'schuldeiser', 'Naam'], 'Een ander'])],
  8: ['another toekenningsdatum', inRecord([['toekenningsdatum'], '2000-01-01'])],
  9: ['M for Man', inRecord([['client', 0, 'Geslachtsaanduiding'], 'M'])],
  10: ['another day of outflow', inRecord([['uitstroom', 'datum'], '2000-01-01'])],
  11: ['nobody with an address', inHead(['aanleverende_organisatie', 'contactpersonen'], NOBODY)],
  12: [
    'two trajectories of one client at the same time',
    { record: (record, place, first) => (place === 1 ? { ...first, omschrijving: 'nogmaals' } : record) },
  ],
  14: ['an end before the begin', inRecord([['nazorg', 'einddatum'], '2000-01-01'])],
  15: ['a number that fails the eleven test', inRecord([['client', 0, 'Burgerservicenummer'], WRONG_NUMBER])],
};

/** Without rule 9: the model of early warning allows no other value. */
function vsBreaks(version: string): Breaks {
  const names = vsNames(version);
  return {
    'model-member': ['an unknown member', inRecord([['onbekendLid'], 1])],
    'model-required': ['no signaalpartner', inRecord([['signaalpartner'], undefined])],
    'model-type': ['an amount as text', inRecord([['bedrag'], '100'])],
    'model-date': ['a day that does not exist', inZaak(['matchingsdatum'], '2026-02-30')],
    'model-value': ['another kind of partner', inRecord([['signaalpartner', 'type'], 'Gas'])],
    'model-items': ['a case without signals', inZaak(['vroegsignalen'], [])],
    2: ['a blank gemeentecode', inHead(['gemeentecode'], '')],
    3: [
      'a second levering for a municipality',
      { head: (head, index) => (index === 3 ? { ...head, gemeentecode: '9003' } : head) },
    ],
    4: ['a code in place of product and version', UNNAMED],
    11: ['nobody with an address', inHead([names.organisatie, names.contacten], NOBODY)],
    13: ['a signal in a case that was not taken up', inRecord([['status'], 'Nog niet opgepakt'])],
    14: ['an end before the begin', inZaak([names.einde], '2000-01-01')],
    15: ['a number that fails the eleven test', inRecord([['client', names.bsn], WRONG_NUMBER])],
  };
}

/** Possible breaks, by the name for `--break`: the number of a rule, or `model-` and the kind. */
export function breaksOf(variant: Variant, version: string): Readonly<Record<string, Breaking>> {
  const breaks = Object.entries(variant === 'shv' ? SHV : vsBreaks(version));
  return Object.fromEntries(
    breaks.map(([name, [what, change]]) => [
      name,
      { rule: name.startsWith('model-') ? 'model' : Number(name), what, ...change },
    ]),
  );
}
