// Deliveries of persons and organisations that do not exist, which keep every rule that `gegevens check` knows, or break one. The same
// options always make the same text; records are made one by one, so a delivery may be larger than memory.

import { type JsonObject, withValueAt } from '../../json/json-value.ts';
import { dayAfter } from '../../time.ts';
import type { Model } from '../model.ts';
import type { Breaking } from './breaks.ts';
import type { Period } from './chance.ts';
import { shvRecord } from './shv-record.ts';
import { vsNames, vsRecord, vsZaak } from './vs-record.ts';

interface SyntheticOptions {
  readonly model: Model;
  readonly records: number;
  readonly seed: string;
  /** Everything ends by its last day. */
  readonly period: Period;
  readonly breaking?: Breaking | undefined;
}

/** For a levering: the number of test BSNs. */
const MOST_RECORDS = 500;
/** The first belongs to a municipality itself, the others to one organisation for several municipalities: the rules check both. */
const LEAST_LEVERINGEN = 4;
/** No municipality has a code from here on. */
const FIRST_MUNICIPALITY = 9001;

/** A delivery of a few records as one value. */
export function syntheticDelivery(options: SyntheticOptions): JsonObject {
  return JSON.parse([...syntheticText(options)].join(''));
}

/** The same as a file of the exchange model, in pieces: a record per line. */
export function* syntheticText(options: SyntheticOptions): Generator<string> {
  const { records, breaking } = options;
  const envelop = syntheticEnvelop(options);
  yield openList(breaking?.envelop?.(envelop) ?? envelop);
  const count = Math.max(1, Math.min(records, LEAST_LEVERINGEN), Math.ceil(records / MOST_RECORDS));
  for (let index = 0; index < count; index += 1) {
    const from = Math.floor((records * index) / count);
    const to = Math.floor((records * (index + 1)) / count);
    yield index === 0 ? '\n' : ',\n';
    yield* leveringText(options, index, to - from);
  }
  yield '\n]}\n';
}

function syntheticEnvelop({ model, period }: SyntheticOptions): JsonObject {
  const { startdatum, einddatum, aanleverdatumEnTijd, leverancierscode, leveringen } = model.mapping.envelop;
  const made = [
    [startdatum, period.start],
    [einddatum, period.end],
    [aanleverdatumEnTijd, `${dayAfter(period.end, 1)}T09:00:00Z`],
    [leverancierscode, 'Proefpakket 1.0'],
    [leveringen, []],
  ] as const;
  return made.reduce<JsonObject>((value, [path, member]) => withValueAt(value, path, member), {});
}

function* leveringText(options: SyntheticOptions, index: number, count: number): Generator<string> {
  const { model, seed, period } = options;
  const { versie: version } = model.mapping;
  const isShv = model.variant === 'shv';
  const breaking = index === 0 ? options.breaking : undefined;
  const municipality = String(FIRST_MUNICIPALITY + index);
  const at = (place: number) => ({ seed, period, levering: index, place, version });
  const record = (place: number): JsonObject =>
    isShv ? shvRecord(at(place), `GM${municipality}`) : vsRecord(at(place));
  const made = isShv ? shvHead(index, municipality) : vsHead(index, municipality, version);
  yield openList(options.breaking?.head?.(made, index) ?? made);
  yield* listed(count, 1, (place) => {
    const one = record(place);
    return breaking?.record?.(one, place, place === 1 ? record(0) : one) ?? one;
  });
  if (!isShv) {
    yield '],"vroegsignaalzaken":[';
    yield* listed(count, 3, (place) => {
      const zaak = vsZaak(at(place), count);
      return breaking?.zaak?.(zaak, place) ?? zaak;
    });
  }
  yield ']}';
}

function shvHead(index: number, municipality: string): JsonObject {
  const organisation =
    index === 0
      ? { '(Statutaire) Naam': 'Gemeente Proefstad', gemeentecode: `GM${municipality}` }
      : { '(Statutaire) Naam': 'Kredietbank Proefland', 'KvK-nummer': '90000001' };
  const contactpersonen = [{ naam: 'Afdeling gegevens', email: 'gegevens@proefland.example' }];
  return {
    teller: index + 1,
    aanleverende_organisatie: { ...organisation, contactpersonen },
    schuldhulptrajecten: [],
  };
}

/** Without its cases, which come last. */
function vsHead(index: number, municipality: string, version: string): JsonObject {
  const { organisatie, contacten } = vsNames(version);
  return {
    teller: index + 1,
    gemeentecode: municipality,
    [organisatie]: {
      naam: index === 0 ? 'Gemeente Proefstad' : 'Samenwerking Proefland',
      'kvk-nummer': index === 0 ? '90000002' : '90000001',
      [contacten]: [{ naam: 'Afdeling gegevens', email: 'gegevens@proefland.example' }],
    },
    vroegsignalen: [],
  };
}

/** An object whose last member is an empty list, without the end of both. */
function openList(value: JsonObject): string {
  return JSON.stringify(value).slice(0, -2);
}

function* listed(count: number, step: number, make: (place: number) => JsonObject): Generator<string> {
  for (let place = 0; place < count; place += step) {
    yield (place === 0 ? '\n' : ',\n') + JSON.stringify(make(place));
  }
}
