import { isUtf8 } from 'node:buffer';
import { createHash, type Hash } from 'node:crypto';
import type { ErrorObject } from 'ajv';
import { CutError, type CutItem, JsonCutter, newlines, type Skeleton } from '../../lib/json/json-cutter.ts';
import { countMembers, JsonTextError, locateValues } from '../../lib/json/json-text.ts';
import { isRecord, type JsonObject, toPointer, valueAt } from '../../lib/json/json-value.ts';
import type { ItemList } from '../model/mapping.ts';
import type { ListBounds, Model, PartCheck } from '../model/model.ts';
import { type Organisation, organisationOf } from '../model/selection.ts';
import { describeError, type Faults, MAX_FAULTS } from './faults.ts';
import { SeenTexts, ZaakLinker, type ZaakLinks } from './identifiers.ts';
import type { ReadTraits, RecordTraits } from './record-traits.ts';

/** What a file says about one levering. */
export interface ReadLevering {
  /** Place in the file, from 0. */
  readonly nummer: number;
  readonly organisatie: Organisation;
  /** The levering with its lists left empty. */
  readonly head: JsonObject;
  readonly records: number;
  readonly zaken: number;
  readonly bytes: number;
  /** SHA-256 over the texts of records and cases, base64. */
  readonly vingerafdruk: string;
  /** Absent for a model without cases. */
  readonly zaakLinks: ZaakLinks | undefined;
}

export interface ReadDelivery {
  /** The message with its list of leveringen left empty. */
  readonly envelop: JsonObject;
  readonly periodeStart: string;
  readonly periodeEinde: string;
  readonly aangeleverdOp: Date;
  readonly leveringen: readonly ReadLevering[];
}

/** Receives what is stored of a file, while it is read. */
export interface DeliverySink {
  /** The bytes are valid only during the call. */
  readonly text: (levering: number, list: ItemList, nummer: number, bytes: Buffer) => void;
  readonly traits?: (levering: number, nummer: number, traits: RecordTraits) => void;
}

/** Sees all that can be read of a file, also where it does not fit the model. */
export interface DeliveryJudge {
  /** @param fits whether it fits the model */
  item(levering: number, list: ItemList, nummer: number, value: unknown, fits: boolean): void;
  /** Called after its items. @param head with its lists left empty */
  levering(nummer: number, head: unknown): void;
  /** Called at the end. @param envelop without its leveringen */
  envelop(envelop: unknown): void;
}

/** Two are enough to know that the records name more than one. */
const MAX_MUNICIPALITIES = 2;

export interface DeliveryReaderOptions {
  readonly model: Model;
  readonly sink: DeliverySink;
  readonly faults: Faults;
  /** Absent: no traits are read, nor the municipalities that records name. */
  readonly traitsOf?: ReadTraits | undefined;
  readonly judge?: DeliveryJudge | undefined;
}

/** Reads one file of the exchange model as its bytes come in, checks all of it, and passes its texts to a sink. */
export class DeliveryReader {
  readonly #model: Model;
  readonly #sink: DeliverySink;
  readonly #traitsOf: ReadTraits | undefined;
  readonly #faults: Faults;
  readonly #judge: DeliveryJudge | undefined;
  readonly #cutter: JsonCutter<ItemList>;
  readonly #leveringen: ReadLevering[] = [];
  readonly #seen: SeenTexts | undefined;
  #count = 0;
  #records = 0;
  #current: OpenLevering;

  constructor({ model, sink, faults, traitsOf, judge }: DeliveryReaderOptions) {
    this.#model = model;
    this.#sink = sink;
    this.#faults = faults;
    this.#traitsOf = traitsOf;
    this.#judge = judge;
    this.#seen = model.bounds.leveringen.uniqueItems ? new SeenTexts() : undefined;
    this.#current = startLevering(this.#model);
    const { records, zaken } = model.mapping.levering;
    const inner = new Map<string, ItemList>([[toPointer(records), 'records']]);
    if (zaken !== undefined) inner.set(toPointer(zaken.lijst), 'zaken');
    this.#cutter = new JsonCutter(
      { outer: toPointer(model.mapping.envelop.leveringen), inner },
      {
        item: (levering, list, index, item) => this.#item(levering, list, index, item),
        outer: (levering, skeleton) => this.#levering(levering, skeleton),
      },
    );
  }

  /** Records and cases that were read so far. */
  get records(): number {
    return this.#records;
  }

  /** @throws {ImportStopped} when the rest of the file need not be read */
  feed(chunk: Buffer): void {
    this.#cut(() => this.#cutter.feed(chunk));
  }

  /**
   * Ends the file.
   * @returns its contents, or `undefined` when it has faults
   * @throws {ImportStopped} when it ended too early
   */
  finish(): ReadDelivery | undefined {
    const skeleton = this.#cut(() => this.#cutter.finish());
    const envelop = this.#part(skeleton, '', this.#model.envelop);
    this.#judge?.envelop(envelop);
    this.#bounds(
      this.#model.bounds.leveringen,
      this.#count,
      toPointer(this.#model.mapping.envelop.leveringen),
      skeleton,
    );
    if (this.#faults.list.length > 0) return undefined;
    const paths = this.#model.mapping.envelop;
    const text = (path: readonly string[]): string => String(valueAt(envelop, path));
    const [periodeStart, periodeEinde] = [text(paths.startdatum), text(paths.einddatum)];
    const aangeleverdOp = new Date(text(paths.aanleverdatumEnTijd));
    const pointer = toPointer(paths.einddatum);
    if (periodeStart > periodeEinde) this.#fault(pointer, skeleton.lineAt(0), 'the period ends before it starts');
    // The model allows the year 0 and leap seconds; Postgres cannot store them.
    if (periodeStart.startsWith('0000')) {
      this.#fault(toPointer(paths.startdatum), skeleton.lineAt(0), 'is not a date that can be stored');
    }
    if (Number.isNaN(aangeleverdOp.getTime())) {
      this.#fault(toPointer(paths.aanleverdatumEnTijd), skeleton.lineAt(0), 'is not a moment that can be stored');
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
      return this.#faults.stop({ pointer: this.#pointer(), line: error.line, message: error.message });
    }
  }

  #item(levering: number, list: ItemList, nummer: number, item: CutItem): void {
    const { bytes } = item;
    this.#records += 1;
    const pointer = (): string => this.#pointer(levering, list, nummer);
    if (!isUtf8(bytes)) {
      this.#fault(pointer(), item.line, 'is not valid UTF-8');
      return;
    }
    const text = bytes.toString();
    const lineAt = (offset: number): number => item.line + newlines(text.slice(0, offset));
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      value = undefined;
    }
    // As many colons as members, so no member occurs twice: two readers might read two values.
    if (value === undefined || countMembers(value) !== item.colons) {
      if (!this.#isBroken(text, pointer(), lineAt))
        this.#faults.stop({ pointer: pointer(), line: item.line, message: 'not JSON' });
      return;
    }
    const check = list === 'records' ? this.#model.record : this.#model.zaak;
    const fits = check === undefined || check.ok(value);
    this.#judge?.item(levering, list, nummer, value, fits);
    if (!fits) {
      this.#misfits(check.faults(value), text, pointer(), lineAt);
      return;
    }
    const current = this.#current;
    if (current.seen[list]?.isRepeated(text)) this.#fault(pointer(), item.line, 'occurs twice in the list');
    if (list === 'records') current.zaakLinker?.addRecord(value, nummer);
    else current.zaakLinker?.addZaak(value, nummer);
    current.counts[list] += 1;
    current.bytes += bytes.length;
    current.hash.update(bytes);
    // After a fault nothing is stored, but the rest is still checked.
    if (this.#faults.list.length > 0) return;
    this.#sink.text(levering, list, nummer, bytes);
    if (list !== 'records' || this.#traitsOf === undefined) return;
    const traits = this.#traitsOf(value);
    if (traits.gemeente !== undefined && current.municipalities.size < MAX_MUNICIPALITIES)
      current.municipalities.add(traits.gemeente);
    this.#sink.traits?.(levering, nummer, traits);
  }

  #levering(nummer: number, skeleton: Skeleton): void {
    const { model, current } = { model: this.#model, current: this.#current };
    const base = this.#pointer(nummer);
    const head = this.#part(skeleton, base, model.levering);
    this.#judge?.levering(nummer, head);
    const { records, zaken } = model.mapping.levering;
    if (Array.isArray(valueAt(head, records))) {
      this.#bounds(model.bounds.records, current.counts.records, base + toPointer(records), skeleton);
    }
    if (zaken !== undefined && Array.isArray(valueAt(head, zaken.lijst))) {
      this.#bounds(model.bounds.zaken, current.counts.zaken, base + toPointer(zaken.lijst), skeleton);
    }
    const vingerafdruk = current.hash.digest('base64');
    if (this.#seen?.isRepeated(JSON.stringify([head, vingerafdruk]))) {
      this.#fault(base, skeleton.lineAt(0), 'occurs twice in the list');
    }
    if (isRecord(head)) {
      const organisatie = organisationOf(head, model.mapping, current.municipalities);
      const texts = Object.values(organisatie).filter((text) => text !== undefined);
      if (texts.some((text) => text.includes('\u0000') || !text.isWellFormed())) {
        const message = 'names its organisation with U+0000 or half of a surrogate pair, which cannot be stored';
        this.#fault(base, skeleton.lineAt(0), message);
      }
      this.#leveringen.push({
        nummer,
        organisatie,
        head,
        records: current.counts.records,
        zaken: current.counts.zaken,
        bytes: current.bytes,
        vingerafdruk,
        zaakLinks: current.zaakLinker?.finish(),
      });
    }
    this.#count += 1;
    this.#current = startLevering(this.#model);
  }

  /** Checks a skeleton against its part of the model. @returns its value, as far as there is one */
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
    const offsets = locateValues(
      text,
      first.map(({ instancePath }) => instancePath),
    );
    for (const error of first) {
      this.#fault(base + error.instancePath, lineAt(offsets.get(error.instancePath) ?? 0), describeError(error));
    }
  }

  #bounds({ minItems, maxItems }: ListBounds, count: number, pointer: string, skeleton: Skeleton): void {
    if (count > maxItems) this.#fault(pointer, skeleton.lineAt(0), `must NOT have more than ${maxItems} items`);
    if (count < minItems) this.#fault(pointer, skeleton.lineAt(0), `must NOT have fewer than ${minItems} items`);
  }

  /** Whether a text has a member twice. @throws {ImportStopped} when it is not JSON: reading on makes no sense then */
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

  #pointer(levering?: number, list?: ItemList, nummer?: number): string {
    const { envelop, levering: paths } = this.#model.mapping;
    const lists = { records: paths.records, zaken: paths.zaken?.lijst ?? [] };
    return toPointer([
      ...envelop.leveringen,
      ...(levering === undefined ? [this.#count] : [levering]),
      ...(list === undefined ? [] : lists[list]),
      ...(nummer === undefined ? [] : [nummer]),
    ]);
  }
}

/** The levering that is being read. */
interface OpenLevering {
  /** For lists in which the model allows no item twice. */
  readonly seen: Record<ItemList, SeenTexts | undefined>;
  readonly counts: Record<ItemList, number>;
  bytes: number;
  /** Over the texts of its items. */
  readonly hash: Hash;
  readonly zaakLinker: ZaakLinker | undefined;
  /** Municipalities that its records name. */
  readonly municipalities: Set<string>;
}

function startLevering({ bounds: { records, zaken }, mapping }: Model): OpenLevering {
  return {
    seen: {
      records: records.uniqueItems ? new SeenTexts() : undefined,
      zaken: zaken.uniqueItems ? new SeenTexts() : undefined,
    },
    counts: { records: 0, zaken: 0 },
    bytes: 0,
    hash: createHash('sha256'),
    zaakLinker: ZaakLinker.of(mapping),
    municipalities: new Set(),
  };
}
