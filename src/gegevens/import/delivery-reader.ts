import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { ErrorObject } from 'ajv';
import { type ItemList, listsOf, type Mapping } from '../../lib/exchange-model/mapping.ts';
import type { ListBounds, Model, PartCheck } from '../../lib/exchange-model/model.ts';
import { CutError, type CutItem, JsonCutter, newlines, type Skeleton } from '../../lib/json/json-cutter.ts';
import { isRecord, type JsonObject, pointerSteps, toPointer, valueAt } from '../../lib/json/json-value.ts';
import { JsonTextError, locateValues } from '../../lib/json/locate-values.ts';
import { countMembers } from '../../lib/json/parse-untrusted.ts';
import { dayOfMoment } from '../../lib/time.ts';
import { type Organisation, organisationOf } from '../model/organisation.ts';
import { municipalityKey } from '../model/selection.ts';
import { describeError, type Faults, MAX_FAULTS } from './faults.ts';

export interface ReadLevering {
  /** Place in the file, from 0. */
  readonly nummer: number;
  readonly organisatie: Organisation;
  readonly head: JsonObject;
  readonly records: number;
  readonly zaken: number;
  readonly bytes: number;
  /** SHA-256 over the texts of records and cases, base64. */
  readonly vingerafdruk: string;
}

export interface ReadDelivery {
  /** The message with its list of leveringen left empty. */
  readonly envelop: JsonObject;
  readonly periodeStart: string;
  readonly periodeEinde: string;
  readonly aangeleverdOp: Date;
  readonly leveringen: readonly ReadLevering[];
}

export interface DeliveryItem {
  readonly levering: number;
  readonly list: ItemList;
  readonly nummer: number;
  readonly value: unknown;
  readonly fits: boolean;
}

/** Receives a file while it is read, including parts that do not fit the model. */
export interface DeliveryConsumer {
  /** @param text as written, except for moments of birth: those are days */
  item(item: DeliveryItem, text: string): void;
  /** Called after its items. @param head with its lists left empty */
  levering?(nummer: number, head: unknown): void;
  /** Called at the end. @param envelop without its leveringen */
  envelop?(envelop: unknown): void;
}

/** Two are enough to know that the records name more than one. */
const MAX_MUNICIPALITIES = 2;

export interface DeliveryReaderOptions {
  readonly model: Model;
  readonly faults: Faults;
  readonly consumers?: readonly DeliveryConsumer[];
}

class OpenLevering {
  readonly seen = new Set<string>();
  readonly counts: Record<ItemList, number> = { records: 0, zaken: 0 };
  bytes = 0;
  readonly hash = createHash('sha256');
  readonly municipalities = new Set<string>();
}

/** Reads one file of the exchange model as its bytes arrive, checks all of it, and passes it to its consumers. */
export class DeliveryReader {
  readonly #model: Model;
  readonly #faults: Faults;
  readonly #consumers: readonly DeliveryConsumer[];
  readonly #birthDates: BirthDates | undefined;
  readonly #cutter: JsonCutter<ItemList>;
  readonly #leveringen: ReadLevering[] = [];
  readonly #seen = new Set<string>();
  #count = 0;
  #records = 0;
  #current = new OpenLevering();

  constructor({ model, faults, consumers = [] }: DeliveryReaderOptions) {
    this.#model = model;
    this.#faults = faults;
    this.#consumers = consumers;
    this.#birthDates = createBirthDates(model.mapping);
    const inner = new Map([...listsOf(model.mapping)].map(([list, path]) => [toPointer(path), list]));
    this.#cutter = new JsonCutter(
      { outer: toPointer(model.mapping.envelop.leveringen), inner },
      {
        item: (levering, list, index, item) => this.#item(levering, list, index, item),
        outer: (levering, skeleton) => this.#levering(levering, skeleton),
      },
    );
  }

  get records(): number {
    return this.#records;
  }

  /** @throws {ImportStopped} when the rest of the file need not be read */
  feed(chunk: Buffer): void {
    this.#cut(() => this.#cutter.feed(chunk));
  }

  /** @returns the contents of the file, or `undefined` when it has faults @throws {ImportStopped} when it ended too early */
  finish(): ReadDelivery | undefined {
    const skeleton = this.#cut(() => this.#cutter.finish());
    const envelop = this.#part(skeleton, '', this.#model.envelop);
    for (const consumer of this.#consumers) consumer.envelop?.(envelop);
    const paths = this.#model.mapping.envelop;
    this.#bounds(this.#model.bounds.leveringen, this.#count, toPointer(paths.leveringen), skeleton);
    if (this.#faults.list.length > 0) return undefined;
    const text = (path: readonly string[]): string => String(valueAt(envelop, path));
    const [periodeStart, periodeEinde] = [text(paths.startdatum), text(paths.einddatum)];
    const aangeleverdOp = new Date(text(paths.aanleverdatumEnTijd));
    const fault = (path: readonly string[], message: string): void =>
      this.#fault(toPointer(path), skeleton.lineAt(0), message);
    if (periodeStart > periodeEinde) fault(paths.einddatum, 'the period ends before it starts');
    // The model allows the year 0 and leap seconds; Postgres cannot store them.
    if (periodeStart.startsWith('0000')) fault(paths.startdatum, 'is not a date that can be stored');
    if (Number.isNaN(aangeleverdOp.getTime())) {
      fault(paths.aanleverdatumEnTijd, 'is not a moment that can be stored');
    }
    return this.#faults.list.length > 0 || !isRecord(envelop)
      ? undefined
      : { envelop, periodeStart, periodeEinde, aangeleverdOp, leveringen: this.#leveringen };
  }

  #cut<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof CutError)) throw error;
      return this.#faults.stop({ pointer: this.#pointer(this.#count), line: error.line, message: error.message });
    }
  }

  #item(levering: number, list: ItemList, nummer: number, { bytes, line, colons }: CutItem): void {
    this.#records += 1;
    const pointer = (): string => this.#pointer(levering, ...(listsOf(this.#model.mapping).get(list) ?? []), nummer);
    if (!isUtf8(bytes)) {
      this.#fault(pointer(), line, 'is not valid UTF-8');
      return;
    }
    let text = bytes.toString();
    const lineAt = (offset: number): number => line + newlines(text.slice(0, offset));
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      value = undefined;
    }
    // As many colons as members, so no member occurs twice: two readers might read two values.
    if (value === undefined || countMembers(value) !== colons) {
      if (!this.#isBroken(text, pointer(), lineAt))
        this.#faults.stop({ pointer: pointer(), line, message: 'not JSON' });
      return;
    }
    const check = list === 'records' ? this.#model.record : this.#model.zaak;
    const fits = check === undefined || check.ok(value);
    const dated = fits && list === 'records' ? this.#birthDates?.(text, value) : undefined;
    if (dated !== undefined) {
      const changed: unknown = JSON.parse(dated);
      // A custom model may require a moment.
      if (check?.ok(changed) !== false) [text, value] = [dated, changed];
    }
    for (const consumer of this.#consumers) consumer.item({ levering, list, nummer, value, fits }, text);
    if (!fits) {
      this.#misfits(check.faults(value), text, pointer(), lineAt);
      return;
    }
    const current = this.#current;
    if (this.#model.bounds[list].uniqueItems && isRepeated(current.seen, `${list} ${text}`)) {
      this.#fault(pointer(), line, 'occurs twice in the list');
    }
    const { gemeentecode } = this.#model.mapping.levering.record;
    const code = list === 'records' && gemeentecode !== undefined ? valueAt(value, gemeentecode) : undefined;
    const gemeente = typeof code === 'string' ? municipalityKey(code) : undefined;
    if (gemeente !== undefined && current.municipalities.size < MAX_MUNICIPALITIES) {
      current.municipalities.add(gemeente);
    }
    current.counts[list] += 1;
    current.bytes += Buffer.byteLength(text);
    current.hash.update(text);
  }

  #levering(nummer: number, skeleton: Skeleton): void {
    const { mapping, levering, bounds } = this.#model;
    const { counts, hash, municipalities, bytes } = this.#current;
    const base = this.#pointer(nummer);
    const head = this.#part(skeleton, base, levering);
    for (const consumer of this.#consumers) consumer.levering?.(nummer, head);
    for (const [list, path] of listsOf(mapping)) {
      if (Array.isArray(valueAt(head, path)))
        this.#bounds(bounds[list], counts[list], base + toPointer(path), skeleton);
    }
    const vingerafdruk = hash.digest('base64');
    if (bounds.leveringen.uniqueItems && isRepeated(this.#seen, JSON.stringify([head, vingerafdruk]))) {
      this.#fault(base, skeleton.lineAt(0), 'occurs twice in the list');
    }
    if (isRecord(head)) {
      const organisatie = organisationOf(head, mapping, municipalities);
      if (Object.values(organisatie).some((text) => text?.includes('\u0000') || text?.isWellFormed() === false)) {
        const message = 'names its organisation with U+0000 or half of a surrogate pair, which cannot be stored';
        this.#fault(base, skeleton.lineAt(0), message);
      }
      this.#leveringen.push({ nummer, organisatie, head, ...counts, bytes, vingerafdruk });
    }
    this.#count += 1;
    this.#current = new OpenLevering();
  }

  #part(skeleton: Skeleton, base: string, check: PartCheck): unknown {
    const { text } = skeleton;
    const lineAt = (offset: number): number => skeleton.lineAt(offset);
    if (!skeleton.isUtf8) this.#fault(base, lineAt(0), 'is not valid UTF-8');
    this.#isBroken(text, base, lineAt);
    const value: unknown = JSON.parse(text);
    if (!check.ok(value)) this.#misfits(check.faults(value), text, base, lineAt);
    return value;
  }

  #misfits(errors: readonly ErrorObject[], text: string, base: string, lineAt: (offset: number) => number): void {
    const first = errors.slice(0, MAX_FAULTS);
    const paths = first.map(({ instancePath }) => instancePath);
    const offsets = locateValues(text, paths);
    for (const error of first) {
      this.#fault(base + error.instancePath, lineAt(offsets.get(error.instancePath) ?? 0), describeError(error));
    }
  }

  #bounds({ minItems, maxItems }: ListBounds, count: number, pointer: string, skeleton: Skeleton): void {
    if (count > maxItems) this.#fault(pointer, skeleton.lineAt(0), `must NOT have more than ${maxItems} items`);
    if (count < minItems) this.#fault(pointer, skeleton.lineAt(0), `must NOT have fewer than ${minItems} items`);
  }

  /** Whether a text has a member twice. @throws {ImportStopped} when it is not JSON, so that the rest is unreadable */
  #isBroken(text: string, pointer: string, lineAt: (offset: number) => number): boolean {
    try {
      locateValues(text);
      return false;
    } catch (error) {
      if (!(error instanceof JsonTextError)) throw error;
      const fault = { pointer, line: lineAt(error.offset), message: error.message };
      if (!error.isDuplicate) this.#faults.stop(fault);
      this.#faults.add(fault);
      return true;
    }
  }

  #fault(pointer: string, line: number, message: string): void {
    this.#faults.add({ pointer, line, message });
  }

  #pointer(levering: number, ...steps: readonly (string | number)[]): string {
    return toPointer([...this.#model.mapping.envelop.leveringen, levering, ...steps]);
  }
}

/** Whether a text occurred before; two spellings of one value are two texts. */
function isRepeated(seen: Set<string>, text: string): boolean {
  const before = seen.size;
  seen.add(createHash('sha256').update(text).digest('base64'));
  return seen.size === before;
}

// Dates of birth that a file gives as a moment: where the model allows any text, `1980-05-13T22:00:00Z` is the 14th.

/** The text of a record with days instead of moments; `undefined` when it has no moments. */
type BirthDates = (text: string, record: unknown) => string | undefined;

const JSON_STRING = /"(?:[^"\\]|\\.)*"/y;

function createBirthDates({ controle }: Mapping): BirthDates | undefined {
  const [place, member] = ['plaats', 'geboortedatum'].map((name) => valueAt(controle, ['personen', name]));
  if (typeof place !== 'string' || typeof member !== 'string') return undefined;
  const [list, birth] = [pointerSteps(place), pointerSteps(member)];
  return (text, record) => {
    const found = valueAt(record, list);
    const persons = Array.isArray(found) ? found.map((person, index) => ({ person, at: [...list, index] })) : [];
    if (isRecord(found)) persons.push({ person: found, at: list });
    const days = persons.flatMap(({ person, at }): [string, string][] => {
      const date = valueAt(person, birth);
      const day = typeof date === 'string' ? dayOfMoment(date)?.day : undefined;
      return day === undefined ? [] : [[toPointer([...at, ...birth]), day]];
    });
    return days.length === 0 ? undefined : withTexts(text, new Map(days));
  };
}

function withTexts(json: string, texts: ReadonlyMap<string, string>): string {
  let changed = json;
  const places = [...locateValues(json, [...texts.keys()])];
  // From the end, so that earlier positions stay valid.
  for (const [pointer, from] of places.toSorted(([, a], [, b]) => b - a)) {
    JSON_STRING.lastIndex = from;
    const [old = ''] = JSON_STRING.exec(json) ?? [];
    changed = changed.slice(0, from) + JSON.stringify(texts.get(pointer)) + changed.slice(from + old.length);
  }
  return changed;
}
