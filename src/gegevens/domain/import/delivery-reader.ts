import { isUtf8 } from 'node:buffer';
import { isRecord } from '../../../kernel/json-value.ts';
import { toPointer, valueAt } from '../model/json-pointer.ts';
import type { ListBounds, Model, PartCheck } from '../model/model.ts';
import { organisationOf } from '../organisation.ts';
import { countMembers } from './count-members.ts';
import { CutError } from './cut-error.ts';
import { cutPlan, type ItemList } from './cut-plan.ts';
import { describeError, type Faults } from './faults.ts';
import type { CapturedItem } from './item-capture.ts';
import { JsonCutter } from './json-cutter.ts';
import { JsonTextError, placesOf } from './json-places.ts';
import type { ReadDelivery, ReadLevering } from './read-delivery.ts';
import type { ReadTraits, RecordTraits } from './record-traits.ts';
import { type RunningLevering, startLevering } from './running-levering.ts';
import { Seen } from './seen.ts';
import { newlines, type Skeleton } from './skeleton.ts';

/** Takes what is kept of a file, as it comes by. */
export interface DeliverySink {
  /** The bytes are valid only during the call. */
  readonly text: (levering: number, list: ItemList, nummer: number, bytes: Buffer) => void;
  readonly traits: (levering: number, nummer: number, traits: RecordTraits) => void;
}

/** More distinct municipalities than one are as good as none: no more of them are remembered. */
const MAX_GEMEENTEN = 2;

export interface DeliveryReaderOptions {
  readonly model: Model;
  readonly sink: DeliverySink;
  readonly faults: Faults;
  readonly traitsOf: ReadTraits;
}

/** Reads one file of the exchange model as its bytes come, checks all of it, and hands its texts on. */
export class DeliveryReader {
  readonly #model: Model;
  readonly #sink: DeliverySink;
  readonly #traitsOf: ReadTraits;
  readonly #faults: Faults;
  readonly #cutter: JsonCutter;
  readonly #leveringen: ReadLevering[] = [];
  readonly #seen: Seen | undefined;
  #count = 0;
  #records = 0;
  #running: RunningLevering;

  constructor({ model, sink, faults, traitsOf }: DeliveryReaderOptions) {
    this.#model = model;
    this.#sink = sink;
    this.#faults = faults;
    this.#traitsOf = traitsOf;
    this.#seen = model.bounds.leveringen.uniqueItems ? new Seen() : undefined;
    this.#running = startLevering(this.#model);
    this.#cutter = new JsonCutter(cutPlan(model.mapping), {
      item: (levering, list, index, item) => this.#item(levering, list, index, item),
      levering: (levering, skeleton) => this.#levering(levering, skeleton),
    });
  }

  /** Records and cases that were read so far. */
  get records(): number {
    return this.#records;
  }

  /** @throws {TooFaulty} when reading on is of no use */
  feed(chunk: Buffer): void {
    this.#cut(() => this.#cutter.feed(chunk));
  }

  /**
   * Ends the file.
   * @returns what it says, or `undefined` when it has faults
   * @throws {TooFaulty} when it ended too early
   */
  finish(): ReadDelivery | undefined {
    const skeleton = this.#cut(() => this.#cutter.finish());
    const envelop = this.#part(skeleton, '', this.#model.envelop);
    this.#bounds(
      this.#model.bounds.leveringen,
      this.#count,
      toPointer(this.#model.mapping.envelop.leveringen),
      skeleton,
    );
    if (this.#faults.list.length > 0) return undefined;
    const places = this.#model.mapping.envelop;
    const text = (place: readonly string[]): string => String(valueAt(envelop, place));
    const [periodeStart, periodeEinde] = [text(places.startdatum), text(places.einddatum)];
    const aangeleverdOp = new Date(text(places.aanleverdatumEnTijd));
    const pointer = toPointer(places.einddatum);
    if (periodeStart > periodeEinde) this.#fault(pointer, skeleton.lineAt(0), 'the period ends before it starts');
    // The year 0 and leap seconds are dates to the model, but none that can be kept.
    if (periodeStart.startsWith('0000')) {
      this.#fault(toPointer(places.startdatum), skeleton.lineAt(0), 'is not a date that can be kept');
    }
    if (Number.isNaN(aangeleverdOp.getTime())) {
      this.#fault(toPointer(places.aanleverdatumEnTijd), skeleton.lineAt(0), 'is not a moment that can be kept');
    }
    return this.#faults.list.length > 0
      ? undefined
      : { periodeStart, periodeEinde, aangeleverdOp, leveringen: this.#leveringen };
  }

  #cut<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof CutError)) throw error;
      return this.#faults.end({ pointer: this.#pointer(), line: error.line, message: error.message });
    }
  }

  #item(levering: number, list: ItemList, nummer: number, item: CapturedItem): void {
    const { bytes } = item;
    this.#records += 1;
    const pointer = (): string => this.#pointer(levering, list, nummer);
    if (!isUtf8(bytes)) {
      this.#fault(pointer(), item.line, 'is not valid UTF-8');
      return;
    }
    const text = bytes.toString();
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      this.#broken(text, item.line, pointer());
      return;
    }
    // As many colons as members: no member stands there twice, which another reader might read otherwise.
    if (countMembers(value) !== item.colons) {
      this.#broken(text, item.line, pointer());
      return;
    }
    const check = list === 'records' ? this.#model.record : this.#model.zaak;
    if (check !== undefined && !check.ok(value)) {
      const places = placesOf(text);
      for (const error of check.faults(value)) {
        const line = item.line + newlines(text.slice(0, places.get(error.instancePath) ?? 0));
        this.#fault(pointer() + error.instancePath, line, describeError(error));
      }
      return;
    }
    const running = this.#running;
    if (running.seen[list]?.again(text)) this.#fault(pointer(), item.line, 'stands in the list twice');
    if (list === 'records') running.places?.record(value, nummer);
    else running.places?.zaak(value, nummer);
    running.counts[list] += 1;
    running.bytes += bytes.length;
    running.hash.update(bytes);
    // After a fault nothing is kept, but the rest is still checked.
    if (this.#faults.list.length > 0) return;
    this.#sink.text(levering, list, nummer, bytes);
    if (list !== 'records') return;
    const traits = this.#traitsOf(value);
    if (traits.gemeente !== undefined && running.gemeenten.size < MAX_GEMEENTEN) running.gemeenten.add(traits.gemeente);
    this.#sink.traits(levering, nummer, traits);
  }

  #levering(nummer: number, skeleton: Skeleton): void {
    const { model, running } = { model: this.#model, running: this.#running };
    const base = this.#pointer(nummer);
    const kop = this.#part(skeleton, base, model.levering);
    const { records, zaken } = model.mapping.levering;
    if (Array.isArray(valueAt(kop, records))) {
      this.#bounds(model.bounds.records, running.counts.records, base + toPointer(records), skeleton);
    }
    if (zaken !== undefined && Array.isArray(valueAt(kop, zaken.lijst))) {
      this.#bounds(model.bounds.zaken, running.counts.zaken, base + toPointer(zaken.lijst), skeleton);
    }
    const vingerafdruk = running.hash.digest('base64');
    if (this.#seen?.again(JSON.stringify([kop, vingerafdruk]))) {
      this.#fault(base, skeleton.lineAt(0), 'stands in the list twice');
    }
    if (isRecord(kop)) {
      const organisatie = organisationOf(kop, model.mapping, running.gemeenten);
      if (Object.values(organisatie).some((text) => text?.includes('\u0000'))) {
        this.#fault(base, skeleton.lineAt(0), 'names its organisation with U+0000, which cannot be kept');
      }
      this.#leveringen.push({
        nummer,
        organisatie,
        kop,
        records: running.counts.records,
        zaken: running.counts.zaken,
        bytes: running.bytes,
        vingerafdruk,
        zaakLinks: running.places?.finish(),
      });
    }
    this.#count += 1;
    this.#running = startLevering(this.#model);
  }

  /** Checks a skeleton against its part of the model. @returns its value, as far as there is one */
  #part(skeleton: Skeleton, base: string, check: PartCheck): unknown {
    const { text } = skeleton;
    if (!skeleton.readable) this.#fault(base, skeleton.lineAt(0), 'is not valid UTF-8');
    let places: ReadonlyMap<string, number>;
    try {
      places = placesOf(text);
    } catch (error) {
      if (!(error instanceof JsonTextError)) throw error;
      return this.#faults.end({ pointer: base, line: skeleton.lineAt(error.offset), message: error.message });
    }
    const value: unknown = JSON.parse(text);
    if (check.ok(value)) return value;
    for (const error of check.faults(value)) {
      const line = skeleton.lineAt(places.get(error.instancePath) ?? 0);
      this.#fault(base + error.instancePath, line, describeError(error));
    }
    return value;
  }

  #bounds({ minItems, maxItems }: ListBounds, count: number, pointer: string, skeleton: Skeleton): void {
    if (count > maxItems) this.#fault(pointer, skeleton.lineAt(0), `must NOT have more than ${maxItems} items`);
    if (count < minItems) this.#fault(pointer, skeleton.lineAt(0), `must NOT have fewer than ${minItems} items`);
  }

  /** A text that is not JSON, or has a member twice. What follows one that is not JSON cannot be trusted. */
  #broken(text: string, line: number, pointer: string): void {
    try {
      placesOf(text);
    } catch (error) {
      if (!(error instanceof JsonTextError)) throw error;
      const fault = { pointer, line: line + newlines(text.slice(0, error.offset)), message: error.message };
      if (!error.twice) this.#faults.end(fault);
      this.#faults.add(fault);
      return;
    }
    this.#faults.end({ pointer, line, message: 'not JSON' });
  }

  #fault(pointer: string, line: number, message: string): void {
    this.#faults.add({ pointer, line, message });
  }

  #pointer(levering?: number, list?: ItemList, nummer?: number): string {
    const { envelop, levering: places } = this.#model.mapping;
    const lists = { records: places.records, zaken: places.zaken?.lijst ?? [] };
    return toPointer([
      ...envelop.leveringen,
      ...(levering === undefined ? [this.#count] : [levering]),
      ...(list === undefined ? [] : lists[list]),
      ...(nummer === undefined ? [] : [nummer]),
    ]);
  }
}
