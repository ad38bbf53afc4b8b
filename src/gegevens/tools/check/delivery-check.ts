/** Judges deliveries by the rules of the statistics office, record by record, and computes the counts that the office reports back. */
import { createHash } from 'node:crypto';
import { listsOf, type Mapping } from '../../../lib/exchange-model/mapping.ts';
import type { Model } from '../../../lib/exchange-model/model.ts';
import { isRecord, toPointer, valueAt } from '../../../lib/json/json-value.ts';
import { DATE } from '../../../lib/time.ts';
import type { DeliveryConsumer, DeliveryItem } from '../../import/delivery-reader.ts';
import { dayNumber, personIdentity } from '../../import/record-traits.ts';
import { organisationOf } from '../../model/organisation.ts';
import { municipalityKey, type Period } from '../../model/selection.ts';
import type { Item } from '../message-store.ts';
import { Scratch } from '../scratch.ts';
import { type CheckReport, Findings, type MunicipalityCounts, type Place } from './findings.ts';
import { Persons } from './persons.ts';
import {
  type CheckPlaces,
  canonicalText,
  isGiven,
  isMunicipalityCode,
  isNotTakenUp,
  judgeCase,
  judgeItems,
  judgeOrganisation,
  judgeRecord,
  personsAt,
  type Report,
  readCheckPlaces,
  runOfCase,
} from './record-rules.ts';
import { Runs } from './runs.ts';

export interface CheckOptions {
  readonly model: Model;
  /** The period in which persons count as active; absent: that of the checked leveringen. */
  readonly period?: Period | undefined;
  readonly now: Date;
  /** Check only the blocking rules. Nothing is counted then, and persons and records are not compared, which is most of the work. */
  readonly blockingOnly?: boolean;
}

interface Counts {
  records: number;
  cases: number;
  /** Signals by kind. */
  readonly kinds: Map<string, number>;
}

interface Municipality extends Counts {
  /** Among all, in the order of their first records. */
  readonly index: number;
  readonly code: string | null;
}

const UNKNOWN = 'unknown';
/** A kind has a short name, but a file may contain anything. */
const MAX_KIND_LENGTH = 60;

export class DeliveryCheck implements DeliveryConsumer {
  readonly findings: Findings;
  readonly #blockingOnly: boolean;
  readonly #mapping: Mapping;
  readonly #places: CheckPlaces;
  readonly #period: Period | undefined;
  readonly #today: string;
  readonly #persons = new Persons();
  readonly #runs = new Runs();
  /** Hashes of the items, each once in a scope: a file, or a levering where records have IDs. */
  readonly #seen = new Scratch(
    'seen (scope integer, list text, hash blob, primary key (scope, list, hash)) without rowid',
    3,
  );
  #scope = 0;
  /** By key; the empty one for those without a code. */
  readonly #municipalities = new Map<string, Municipality>();
  /** The period of all files. */
  #read: Period | undefined;
  #prefix = '';
  /** The leveringen of a file that are for one municipality. */
  #leveringen: { place: Place; organisation: string; municipality: string }[] = [];
  /** The levering that is being read, and keys of the municipalities that its records name. */
  #open = { ...noCounts(), municipalities: new Set<string>() };

  constructor({ model, period, now, blockingOnly = false }: CheckOptions) {
    this.findings = new Findings({ blockingOnly });
    this.#blockingOnly = blockingOnly;
    this.#mapping = model.mapping;
    this.#places = readCheckPlaces(model.mapping.controle);
    this.#period = period;
    this.#today = now.toISOString().slice(0, 10);
  }

  /** Begins a file. Records are compared with those of the same file; signals with those of the same levering. @param prefix of its places */
  start(prefix: string): void {
    this.#prefix = prefix;
    this.#leveringen = [];
    this.#scope += 1;
    this.#open = { ...noCounts(), municipalities: new Set() };
    this.#persons.startScope();
  }

  item({ levering, list, nummer, value, fits }: DeliveryItem): void {
    if (!isRecord(value)) return;
    const item = { levering, list, nummer };
    const report: Report = (rule, severity, what, path) =>
      this.findings.add(rule, severity, { ...this.#itemPlace(item, path), what });
    if (list === 'zaken') {
      this.#zaak(value, item);
      judgeCase(value, this.#places.zaken, this.#today, report);
    } else {
      this.#record(value, item, fits, report);
      const { begin } = this.#mapping.levering.record;
      judgeRecord(value, { places: this.#places, begin, today: this.#today }, report);
    }
    if (this.#blockingOnly) return;
    const hash = createHash('sha256').update(canonicalText(value)).digest();
    if (!this.#seen.insert(this.#scope, list, hash)) report(15, 'warning', 'is there twice', []);
    judgeItems(value, [], report);
  }

  levering(nummer: number, head: unknown): void {
    const { levering: paths, variant } = this.#mapping;
    const open = this.#open;
    this.#open = { ...noCounts(), municipalities: new Set() };
    const scope = this.#scope;
    // IDs are unique within a levering only: in another, an equal ID belongs to another signal or case.
    if (paths.recordId !== undefined) this.#scope += 1;
    const report: Report = (rule, severity, what, path) =>
      this.findings.add(rule, severity, { pointer: this.#pointer(nummer, path), what });
    judgeOrganisation(head, paths.organisatie, this.#places, report);
    const { sleutel, gemeenteSleutel } = organisationOf(head, { levering: paths }, open.municipalities);
    if (open.municipalities.size > 1) report(3, 'blocking', 'its records are for more than one municipality', []);
    else if (gemeenteSleutel !== undefined) {
      const place: Place = { pointer: this.#pointer(nummer, []), what: 'a second levering for its municipality' };
      this.#leveringen.push({ place, organisation: sleutel, municipality: gemeenteSleutel });
    }
    if (paths.gemeentecode !== undefined) {
      const { municipality } = this.#municipality(head, paths.gemeentecode, report);
      municipality.records += open.records;
      municipality.cases += open.cases;
      for (const [kind, count] of open.kinds) add(municipality.kinds, kind, count);
      this.#persons.endLevering(municipality.index);
    } else {
      for (const record of this.#persons.endLevering()) {
        if (variant !== 'shv') break;
        const place = this.#itemPlace({ levering: nummer, list: 'records', nummer: record }, []);
        this.findings.add(12, 'warning', { ...place, what: 'its client has another trajectory at the same time' });
      }
    }
    for (const { nummer: zaak, place: at } of this.#blockingOnly ? [] : this.#runs.waiting(scope)) {
      const path = [...(paths.zaken?.signalen ?? []), at];
      const place = this.#itemPlace({ levering: nummer, list: 'zaken', nummer: zaak }, path);
      this.findings.add(13, 'warning', { ...place, what: 'its status says that the signal was not taken up' });
    }
  }

  envelop(envelop: unknown): void {
    const { startdatum, einddatum, leverancierscode } = this.#mapping.envelop;
    const code = valueAt(envelop, leverancierscode);
    if (!isProductAndVersion(code)) {
      const pointer = this.#prefix + toPointer(code === undefined ? [] : leverancierscode);
      this.findings.add(4, 'warning', { pointer, what: 'is not as in `Product 1.2`' });
    }
    const [start, end] = [valueAt(envelop, startdatum), valueAt(envelop, einddatum)];
    if (isDay(start) && isDay(end) && start <= end) {
      this.judgePeriod({ start, end });
      const [first = start] = [start, this.#read?.start ?? start].toSorted();
      const [, last = end] = [end, this.#read?.end ?? end].toSorted();
      this.#read = { start: first, end: last };
    }
    this.endLeveringen();
  }

  /** Rule 16, for records since the last call; called by `envelop`. @param period of the delivery */
  judgePeriod(period: Period): void {
    const { begin = [], einde = [] } = this.#mapping.levering.record;
    for (const { isAfter, ...item } of this.#runs.takeOutside(period)) {
      const place = this.#itemPlace(item, item.list === 'zaken' ? [] : isAfter ? begin : einde);
      const what = isAfter ? 'is after the period of its delivery' : 'is before the period of its delivery';
      this.findings.add(16, 'blocking', { ...place, what });
    }
  }

  /** Rule 3, over all leveringen of a file; called by `envelop`. */
  endLeveringen(): void {
    for (const own of Map.groupBy(this.#leveringen, ({ organisation }) => organisation).values()) {
      const known = new Set<string>();
      const isForSeveral = own.some(({ municipality }) => municipality !== own[0]?.municipality);
      for (const { place, municipality } of own) {
        if (isForSeveral && known.has(municipality)) this.findings.add(3, 'blocking', place);
        known.add(municipality);
      }
    }
  }

  report(): CheckReport {
    const { variant } = this.#mapping;
    const period = this.#period ?? this.#read;
    const steps = (this.#places.stappen ?? []).map((path) => path.at(-1) ?? '');
    const ofPersons = this.#persons.count(period);
    const municipalities = [...this.#municipalities.values()].map(({ index, code, records, cases, kinds }) => {
      const { persons = 0, active: activePersons = 0, steps: bySteps } = ofPersons.get(index) ?? {};
      const items: Record<string, number> = variant === 'shv' ? { trajectories: records } : { signals: records, cases };
      const groups =
        steps.length > 0
          ? [...steps, UNKNOWN].map((name): [string, number] => [name, bySteps?.get(steps.indexOf(name)) ?? 0])
          : [...kinds].toSorted(([a], [b]) => (a < b ? -1 : 1));
      return {
        gemeentecode: code,
        counts: { ...items, persons, activePersons },
        groups: Object.fromEntries(groups),
      };
    });
    this.close();
    return { variant, period, municipalities: municipalities.toSorted(byCode), findings: this.findings.list() };
  }

  /** Releases its data outside the heap, for a check that ends without a report. */
  close(): void {
    for (const scratch of [this.#persons, this.#seen, this.#runs]) scratch.close();
  }

  #record(value: Record<string, unknown>, { levering, nummer }: Item, fits: boolean, report: Report): void {
    const { personen, soort, status, stappen = [] } = this.#places;
    const { recordId, gemeentecode: ofLevering, record: paths } = this.#mapping.levering;
    const { begin, einde, gemeentecode } = paths;
    let index: number | undefined;
    if (ofLevering === undefined && gemeentecode !== undefined) {
      const { municipality, key } = this.#municipality(value, gemeentecode, report);
      if (key !== undefined) this.#open.municipalities.add(key);
      municipality.records += 1;
      index = municipality.index;
    }
    this.#open.records += 1;
    if (soort !== undefined) {
      const kind = fits ? valueAt(value, soort) : undefined;
      add(this.#open.kinds, typeof kind === 'string' && kind.length <= MAX_KIND_LENGTH ? kind : UNKNOWN, 1);
    }
    const run = { begin: begin && dayNumber(valueAt(value, begin)), end: einde && dayNumber(valueAt(value, einde)) };
    const id = recordId && valueAt(value, recordId);
    const waits = status !== undefined && isNotTakenUp(valueAt(value, status));
    this.#runs.record({ ...run, scope: this.#scope, levering, nummer }, typeof id === 'string' ? id : undefined, waits);
    if (personen === undefined || this.#blockingOnly) return;
    const identity = personen.kenmerken ?? paths.personen?.kenmerken ?? [];
    this.#persons.add({
      record: nummer,
      municipality: index,
      persons: personsAt(value, personen.plaats).map(({ item }) => personIdentity(item, identity)),
      ...run,
      step: stappen.findLastIndex((path) => saysSomething(valueAt(value, path))),
    });
  }

  #zaak(value: Record<string, unknown>, { levering, nummer }: Item): void {
    const { zaken } = this.#mapping.levering;
    this.#open.cases += 1;
    const named = zaken && valueAt(value, zaken.signalen);
    const ids = Array.isArray(named) ? named.map((each) => valueAt(each, zaken?.signaalId ?? [])) : [];
    this.#runs.zaak({ ...runOfCase(value, this.#places.zaken), scope: this.#scope, levering, nummer }, ids);
  }

  /** Rule 2. @returns the municipality that a record or levering names, and its key where it is known */
  #municipality(
    value: unknown,
    path: readonly string[],
    report: Report,
  ): { readonly municipality: Municipality; readonly key: string | undefined } {
    const code = valueAt(value, path);
    const text = typeof code === 'string' ? code.trim() : '';
    const isUnknown = /^onbekend$/i.test(text);
    const isMissing = !isUnknown && !isMunicipalityCode(text);
    if (isMissing) report(2, 'blocking', 'no gemeentecode', code === undefined ? [] : path);
    const key = isMissing ? '' : (municipalityKey(text) ?? 'onbekend');
    const known = this.#municipalities.get(key);
    const index = this.#municipalities.size;
    const municipality = known ?? { index, code: isMissing ? null : text, ...noCounts() };
    this.#municipalities.set(key, municipality);
    return { municipality, key: isMissing || isUnknown ? undefined : key };
  }

  #itemPlace(item: Item, path: readonly (string | number)[]): Pick<Place, 'pointer' | 'item'> {
    const list = listsOf(this.#mapping).get(item.list) ?? [];
    return { pointer: this.#pointer(item.levering, [...list, item.nummer, ...path]), item };
  }

  #pointer(levering: number, path: readonly (string | number)[]): string {
    return this.#prefix + toPointer([...this.#mapping.envelop.leveringen, levering, ...path]);
  }
}

function noCounts(): Counts {
  return { records: 0, cases: 0, kinds: new Map() };
}

function add(counts: Map<string, number>, name: string, count: number): void {
  counts.set(name, (counts.get(name) ?? 0) + count);
}

function isDay(text: unknown): text is string {
  return typeof text === 'string' && DATE.test(text) && dayNumber(text) !== undefined;
}

/** Matches `Product 1.2`, `Product+1.2`, `Product-v3` and `Product1.2`, but not a code such as `GL987654`. */
function isProductAndVersion(code: unknown): boolean {
  if (typeof code !== 'string' || code.length > 200) return false;
  const name = /\p{L}{2}/u.exec(code);
  return name !== null && /(?:[\s+_/-]v?\d|\d\.\d)[\w.-]*$/i.test(code.slice(name.index + 2).trimEnd());
}

/** Whether a step has been taken: software may leave empty objects, or ones with nothing but a no. */
function saysSomething(step: unknown): boolean {
  return isRecord(step) && Object.values(step).some((value) => isGiven(value) && value !== false);
}

/** By number; then `Onbekend`, then those without a code. */
function byCode({ gemeentecode: a }: MunicipalityCounts, { gemeentecode: b }: MunicipalityCounts): number {
  const rank = (code: string | null): string =>
    code === null ? '~~' : isMunicipalityCode(code) ? code.replace(/^gm/i, '').padStart(5, '0') : '~';
  const [left, right] = [rank(a), rank(b)];
  return left < right ? -1 : Number(left > right);
}
