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
import { Scratch } from '../scratch.ts';
import { type CheckPlaces, readCheckPlaces } from './check-places.ts';
import type { CheckReport, Item, MunicipalityCounts } from './findings.ts';
import { Findings } from './findings.ts';
import { Persons } from './persons.ts';
import { isGiven, isNotTakenUp, judgeCase, judgeRecord, personsAt, type Report, runOfCase } from './record-rules.ts';
import { Runs } from './runs.ts';

export interface CheckOptions {
  readonly model: Model;
  /** The period in which persons count as active; absent: that of the checked leveringen. */
  readonly period?: Period | undefined;
  readonly now: Date;
  /** Check only the blocking rules. Nothing is counted then, and persons and records are not compared, which is most of the work. */
  readonly blockingOnly?: boolean;
}

interface Municipality {
  /** Among all, in the order of their first records. */
  readonly index: number;
  readonly code: string | null;
  records: number;
  cases: number;
  readonly kinds: Map<string, number>;
}

/** A code as the office issues them. Anything else is not shown: it may be personal. */
const MUNICIPALITY_CODE = /^(gm)?\d{1,5}$/i;
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
  /** By key; the empty one for those without a code. */
  readonly #municipalities = new Map<string, Municipality>();
  #read: Period | undefined;
  #prefix = '';
  #first: { pointer: string; organisation: string; municipality: string }[] = [];
  /** Hashes of the items, each once in a scope: a file, or a levering where records have IDs. */
  readonly #seen = new Scratch(
    'seen (scope integer, list text, hash blob, primary key (scope, list, hash)) without rowid',
    3,
  );
  readonly #runs = new Runs();
  #scope = 0;
  #levering = startLevering();

  constructor({ model, period, now, blockingOnly = false }: CheckOptions) {
    this.findings = new Findings({ blockingOnly });
    this.#blockingOnly = blockingOnly;
    this.#mapping = model.mapping;
    this.#places = readCheckPlaces(model.mapping.controle);
    this.#period = period;
    this.#today = now.toISOString().slice(0, 10);
  }

  /** Begins a file, or what is stored. Records are compared with those of the same file; signals with those of the same levering. @param prefix of its places */
  start(prefix: string): void {
    // Rows of tables were looked up before their file was closed.
    this.findings.locate(() => new Map());
    this.#prefix = prefix;
    this.#first = [];
    this.#scope += 1;
    this.#levering = startLevering();
    this.#persons.startScope();
  }

  item({ levering, list, nummer, value, fits }: DeliveryItem): void {
    if (!isRecord(value)) return;
    const report: Report = (rule, severity, what, path) =>
      this.findings.add(rule, severity, what, () => this.#place({ levering, list, nummer }, path));
    if (list === 'zaken') {
      this.#zaak(value, levering, nummer);
      judgeCase(value, this.#places.zaken, this.#today, report);
    } else {
      this.#record(value, { levering, nummer, fits }, report);
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
    const open = this.#levering;
    this.#levering = startLevering();
    const scope = this.#scope;
    // IDs are unique within a levering only: in another, an equal ID belongs to another signal or case.
    if (paths.recordId !== undefined) this.#scope += 1;
    const report: Report = (rule, severity, what, path) =>
      this.findings.add(rule, severity, what, () => ({ pointer: this.#pointer(nummer, path) }));
    this.#organisation(head, report);
    const { sleutel, gemeenteSleutel } = organisationOf(head, { levering: paths }, open.municipalities);
    if (open.municipalities.size > 1) report(3, 'blocking', 'its records are for more than one municipality', []);
    else if (gemeenteSleutel !== undefined) {
      const pointer = this.#pointer(nummer, []);
      this.#first.push({ pointer, organisation: sleutel, municipality: gemeenteSleutel });
    }
    if (paths.gemeentecode !== undefined) {
      const { municipality: counts } = this.#municipality(head, paths.gemeentecode, report);
      counts.records += open.records;
      counts.cases += open.cases;
      for (const [kind, count] of open.kinds) counts.kinds.set(kind, (counts.kinds.get(kind) ?? 0) + count);
      this.#persons.endLevering(counts.index);
    } else {
      for (const record of this.#persons.endLevering()) {
        if (variant !== 'shv') break;
        const place = () => this.#place({ levering: nummer, list: 'records', nummer: record }, []);
        this.findings.add(12, 'warning', 'its client has another trajectory at the same time', place);
      }
    }
    for (const { nummer: zaak, place } of this.#blockingOnly ? [] : this.#runs.waiting(scope)) {
      const path = [...(paths.zaken?.signalen ?? []), place];
      const item = { levering: nummer, list: 'zaken', nummer: zaak } as const;
      this.findings.add(13, 'warning', 'its status says that the signal was not taken up', () =>
        this.#place(item, path),
      );
    }
  }

  envelop(envelop: unknown): void {
    const { startdatum, einddatum, leverancierscode } = this.#mapping.envelop;
    const code = valueAt(envelop, leverancierscode);
    if (!isProductAndVersion(code)) {
      const path = code === undefined ? [] : leverancierscode;
      this.findings.add(4, 'warning', 'is not as in `Product 1.2`', () => ({
        pointer: this.#prefix + toPointer(path),
      }));
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
    for (const { levering, list, nummer, isAfter } of this.#runs.takeOutside(period)) {
      const what = isAfter ? 'is after the period of its delivery' : 'is before the period of its delivery';
      const path = list === 'zaken' ? [] : isAfter ? begin : einde;
      this.findings.add(16, 'blocking', what, () => this.#place({ levering, list, nummer }, path));
    }
  }

  /** Rule 3, over all leveringen of a file; called by `envelop`. */
  endLeveringen(): void {
    for (const own of Map.groupBy(this.#first, ({ organisation }) => organisation).values()) {
      const known = new Set<string>();
      const isForSeveral = own.some(({ municipality }) => municipality !== own[0]?.municipality);
      for (const { pointer, municipality } of own) {
        if (isForSeveral && known.has(municipality)) {
          this.findings.add(3, 'blocking', 'a second levering for its municipality', () => ({ pointer }));
        }
        known.add(municipality);
      }
    }
  }

  report(): CheckReport {
    const { variant } = this.#mapping;
    const period = this.#period ?? this.#read;
    const steps = (this.#places.stappen ?? []).map((path) => path.at(-1) ?? '');
    const counts = this.#persons.count(
      period && { start: dayNumber(period.start) ?? 0, end: dayNumber(period.end) ?? 0 },
    );
    const municipalities = [...this.#municipalities.values()].map(({ index, code, records, cases, kinds }) => {
      const { persons = 0, active: activePersons = 0, steps: ofSteps } = counts.get(index) ?? {};
      const byStep = [...steps, UNKNOWN].map((name): [string, number] => [
        name,
        ofSteps?.get(steps.indexOf(name)) ?? 0,
      ]);
      const items: Record<string, number> = variant === 'shv' ? { trajectories: records } : { signals: records, cases };
      return {
        gemeentecode: code,
        counts: { ...items, persons, activePersons },
        groups: Object.fromEntries(steps.length > 0 ? byStep : [...kinds].toSorted(([a], [b]) => (a < b ? -1 : 1))),
      };
    });
    this.close();
    return { variant, period, municipalities: municipalities.toSorted(byCode), findings: this.findings.list() };
  }

  /** Releases its data outside the heap, for a check that ends without a report. */
  close(): void {
    for (const scratch of [this.#persons, this.#seen, this.#runs]) scratch.close();
  }

  #record(
    value: Record<string, unknown>,
    { levering, nummer, fits }: Pick<DeliveryItem, 'levering' | 'nummer' | 'fits'>,
    report: Report,
  ): void {
    const { personen, soort, status, stappen = [] } = this.#places;
    const { levering: paths } = this.#mapping;
    const open = this.#levering;
    const { begin, einde, gemeentecode, personen: own } = paths.record;
    let municipality: number | undefined;
    if (paths.gemeentecode === undefined && gemeentecode !== undefined) {
      const { municipality: counts, key } = this.#municipality(value, gemeentecode, report);
      municipality = counts.index;
      if (key !== undefined) open.municipalities.add(key);
      counts.records += 1;
    }
    open.records += 1;
    if (soort !== undefined) {
      const kind = fits ? valueAt(value, soort) : undefined;
      const name = typeof kind === 'string' && kind.length <= MAX_KIND_LENGTH ? kind : UNKNOWN;
      open.kinds.set(name, (open.kinds.get(name) ?? 0) + 1);
    }
    const run = { begin: begin && dayNumber(valueAt(value, begin)), end: einde && dayNumber(valueAt(value, einde)) };
    const id = paths.recordId && valueAt(value, paths.recordId);
    const waits = status !== undefined && isNotTakenUp(valueAt(value, status));
    this.#runs.record({ ...run, scope: this.#scope, levering, nummer }, typeof id === 'string' ? id : undefined, waits);
    if (personen === undefined || this.#blockingOnly) return;
    const identity = personen.kenmerken ?? own?.kenmerken ?? [];
    this.#persons.add({
      record: nummer,
      municipality,
      persons: personsAt(value, personen.plaats).map(({ item }) => personIdentity(item, identity)),
      ...run,
      step: stappen.findLastIndex((path) => saysSomething(valueAt(value, path))),
    });
  }

  #zaak(value: Record<string, unknown>, levering: number, nummer: number): void {
    const { zaken } = this.#mapping.levering;
    this.#levering.cases += 1;
    const named = zaken === undefined ? undefined : valueAt(value, zaken.signalen);
    const ids = Array.isArray(named) ? named.map((each) => valueAt(each, zaken?.signaalId ?? [])) : [];
    this.#runs.zaak({ ...runOfCase(value, this.#places.zaken), scope: this.#scope, levering, nummer }, ids);
  }

  /** Rules 1 and 11. */
  #organisation(head: unknown, report: Report): void {
    const { object, gemeentecode, kvkNummer } = this.#mapping.levering.organisatie;
    if (gemeentecode !== undefined && kvkNummer !== undefined) {
      const [code, kvk] = [valueAt(head, gemeentecode), valueAt(head, kvkNummer)];
      if (isGiven(code) && isGiven(kvk)) report(1, 'blocking', 'has both: which of the two is it?', object);
      else if (!isGiven(code) && !isGiven(kvk)) report(1, 'blocking', 'has neither', object);
      else if (isGiven(code) && !isCode(code)) report(1, 'blocking', 'is not a gemeentecode', gemeentecode);
      else if (isGiven(kvk) && !(typeof kvk === 'string' && /^\d{8}$/.test(kvk.trim())))
        report(1, 'blocking', 'is not a KvK number of eight digits', kvkNummer);
    }
    const { contactpersonen } = this.#places;
    if (contactpersonen === undefined) return;
    const contacts = valueAt(head, contactpersonen.lijst);
    const hasAddress = (contact: unknown): boolean => {
      const address = valueAt(contact, contactpersonen.email);
      return typeof address === 'string' && /.@./.test(address);
    };
    if (!Array.isArray(contacts) || !contacts.some(hasAddress))
      report(11, 'blocking', 'no contact with an e-mail address', object);
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
    const isMissing = !isUnknown && !isCode(text);
    if (isMissing) report(2, 'blocking', 'no gemeentecode', code === undefined ? [] : path);
    const key = isMissing ? '' : (municipalityKey(text) ?? 'onbekend');
    const index = this.#municipalities.size;
    const municipality = this.#municipalities.get(key) ?? {
      index,
      code: isMissing ? null : text,
      records: 0,
      cases: 0,
      kinds: new Map<string, number>(),
    };
    this.#municipalities.set(key, municipality);
    return { municipality, key: isMissing || isUnknown ? undefined : key };
  }

  #place(item: Item, path: readonly (string | number)[]): { readonly pointer: string; readonly item: Item } {
    const list = listsOf(this.#mapping).get(item.list) ?? [];
    return { pointer: this.#pointer(item.levering, [...list, item.nummer, ...path]), item };
  }

  #pointer(levering: number, path: readonly (string | number)[]): string {
    return this.#prefix + toPointer([...this.#mapping.envelop.leveringen, levering, ...path]);
  }
}

function startLevering() {
  return {
    records: 0,
    cases: 0,
    kinds: new Map<string, number>(),
    /** Keys of those that its records name. */
    municipalities: new Set<string>(),
  };
}

/** Rule 15, of the items of lists: an export that repeats a row doubles a debt. */
function judgeItems(value: unknown, path: readonly (string | number)[], report: Report): void {
  if (Array.isArray(value)) {
    const seen = new Set<string>();
    for (const [index, item] of value.entries()) {
      const text = value.length > 1 && isRecord(item) ? canonicalText(item) : undefined;
      if (text !== undefined && seen.has(text)) report(15, 'warning', 'is there twice', [...path, index]);
      if (text !== undefined) seen.add(text);
      judgeItems(item, [...path, index], report);
    }
  } else if (isRecord(value)) {
    for (const [name, member] of Object.entries(value)) judgeItems(member, [...path, name], report);
  }
}

/**
 * One text for equal values, whatever the order of members. Strings are preceded by their length, because escaping them would take most of the
 * time.
 */
function canonicalText(value: unknown): string {
  if (typeof value === 'string') return `${value.length}:${value}`;
  if (typeof value !== 'object' || value === null) return `${value},`;
  let text = '';
  if (Array.isArray(value)) {
    for (const item of value) text += canonicalText(item);
    return `[${text}]`;
  }
  for (const [name, member] of Object.entries(value).sort(byName)) text += canonicalText(name) + canonicalText(member);
  return `{${text}}`;
}

function byName([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1;
}

function isCode(code: unknown): boolean {
  return typeof code === 'string' && MUNICIPALITY_CODE.test(code.trim());
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
    code === null ? '~~' : isCode(code) ? code.replace(/^gm/i, '').padStart(5, '0') : '~';
  const [left, right] = [rank(a), rank(b)];
  return left < right ? -1 : Number(left > right);
}
