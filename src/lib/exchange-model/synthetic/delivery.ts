/**
 * Deliveries of persons and organisations that do not exist, which keep every rule that `gegevens check` knows, or break one. The same
 * options always make the same text; records are made one by one, so a delivery may be larger than memory.
 */

import { type JsonObject, withValueAt } from '../../json/json-value.ts';
import { dayAfter } from '../../time.ts';
import type { Model } from '../model.ts';
import type { Breaking } from './breaks.ts';
import type { Period } from './chance.ts';
import { shvRecord } from './shv-record.ts';
import { vsNames, vsRecord, vsZaak } from './vs-record.ts';

interface SyntheticOptions {
  readonly model: Model;
  /** Of all leveringen together. */
  readonly records: number;
  readonly seed: string;
  /** Everything ends by its last day. */
  readonly period: Period;
  readonly breaking?: Breaking | undefined;
}

/** One levering, with empty lists; its records and cases are made on reading. */
interface SyntheticLevering {
  readonly head: JsonObject;
  readonly records: () => Iterable<JsonObject>;
  readonly zaken: () => Iterable<JsonObject>;
}

/** For a levering: the number of test BSNs. */
const MOST_RECORDS = 500;
/** The first belongs to a municipality itself, the others to one organisation for several municipalities: the rules check both. */
const LEAST_LEVERINGEN = 4;
/** No municipality has a code from here on. */
const FIRST_MUNICIPALITY = 9001;

function syntheticEnvelop({ model, period, breaking }: SyntheticOptions): JsonObject {
  const { startdatum, einddatum, aanleverdatumEnTijd, leverancierscode, leveringen } = model.mapping.envelop;
  const made = [
    [startdatum, period.start],
    [einddatum, period.end],
    [aanleverdatumEnTijd, `${dayAfter(period.end, 1)}T09:00:00Z`],
    [leverancierscode, 'Proefpakket 1.0'],
    [leveringen, []],
  ] as const;
  const envelop = made.reduce<JsonObject>((value, [path, member]) => withValueAt(value, path, member), {});
  return breaking?.envelop?.(envelop) ?? envelop;
}

function* syntheticLeveringen(options: SyntheticOptions): Generator<SyntheticLevering> {
  const { records, breaking } = options;
  const count = Math.max(1, Math.min(records, LEAST_LEVERINGEN), Math.ceil(records / MOST_RECORDS));
  for (let index = 0; index < count; index += 1) {
    const from = Math.floor((records * index) / count);
    const to = Math.floor((records * (index + 1)) / count);
    yield leveringOf(options, index, to - from, index === 0 ? breaking : undefined);
  }
}

function leveringOf(options: SyntheticOptions, index: number, count: number, breaking?: Breaking): SyntheticLevering {
  const { model, seed, period } = options;
  const isShv = model.variant === 'shv';
  const needs = (place: number) => ({ seed, period, levering: index, place, version: model.mapping.versie });
  const municipality = String(FIRST_MUNICIPALITY + index);
  const made = isShv ? shvHead(index, municipality) : vsHead(index, municipality, model.mapping.versie);
  const head = options.breaking?.head?.(made, index) ?? made;
  return {
    head,
    *records() {
      for (let place = 0; place < count; place += 1) {
        const record = isShv ? shvRecord(needs(place), `GM${municipality}`) : vsRecord(needs(place));
        const first = place === 1 ? (isShv ? shvRecord(needs(0), `GM${municipality}`) : vsRecord(needs(0))) : record;
        yield breaking?.record?.(record, place, first) ?? record;
      }
    },
    *zaken() {
      for (let place = 0; !isShv && place < count; place += 3) {
        const zaak = vsZaak(needs(place), count);
        yield breaking?.zaak?.(zaak, place) ?? zaak;
      }
    },
  };
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
    vroegsignaalzaken: [],
  };
}

/** A delivery of a few records as one value. */
export function syntheticDelivery(options: SyntheticOptions): JsonObject {
  return JSON.parse([...syntheticText(options)].join(''));
}

/** The same as a file of the exchange model, in pieces: a record per line. */
export function* syntheticText(options: SyntheticOptions): Generator<string> {
  yield openList(syntheticEnvelop(options));
  let separator = '\n';
  for (const { head, records, zaken } of syntheticLeveringen(options)) {
    const { vroegsignaalzaken, ...rest } = head;
    yield separator + openList(rest);
    yield* listed(records());
    if (vroegsignaalzaken !== undefined) {
      yield '],"vroegsignaalzaken":[';
      yield* listed(zaken());
    }
    yield ']}';
    separator = ',\n';
  }
  yield '\n]}\n';
}

/** An object whose last member is an empty list, without the end of both. */
function openList(value: JsonObject): string {
  return JSON.stringify(value).slice(0, -2);
}

function* listed(items: Iterable<JsonObject>): Generator<string> {
  let separator = '\n';
  for (const item of items) {
    yield separator + JSON.stringify(item);
    separator = ',\n';
  }
}
