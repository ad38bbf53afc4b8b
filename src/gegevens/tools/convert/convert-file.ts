/** Converts a message of one model into another, on disk, because only at its end is it known whether it may be written. */
import { readFileSync } from 'node:fs';
import { modelsDirectory } from '../../../lib/exchange-model/built-in-models.ts';
import { type ItemList, listsOf, type Mapping } from '../../../lib/exchange-model/mapping.ts';
import { builtInVersions, loadModel, type Model, type PartCheck } from '../../../lib/exchange-model/model.ts';
import { isRecord, type JsonObject, toPointer, valueAt } from '../../../lib/json/json-value.ts';
import { isBsn } from '../../../lib/patterns.ts';
import type { DeliveryItem } from '../../import/delivery-reader.ts';
import { describeError, type Faults } from '../../import/faults.ts';
import { readDelivery } from '../../store/import-file.ts';
import { MessageStore } from '../message-store.ts';
import { memberNames, Shape } from '../model-shape.ts';
import { convertValue, type Equivalents, type Loss } from './convert-value.ts';

/** Something lost, or an item that cannot be converted. */
export interface Named {
  readonly place: string;
  /** The key that the supplier gave the record; of a case, that of its first signal. */
  readonly key?: string;
}

interface NamedLoss extends Named, Pick<Loss, 'reason' | 'value'> {
  /** The path from the record by the names of the file's model: `client/Achternaam`. */
  readonly member: string;
}

interface LossKind extends Omit<NamedLoss, keyof Named> {
  count: number;
  /** The first. */
  readonly places: Named[];
}

interface Refusal extends Named {
  readonly faults: readonly string[];
}

export interface ConvertedFile {
  readonly message: MessageStore;
  readonly envelop: JsonObject;
  readonly records: number;
  readonly zaken: number;
  readonly losses: readonly LossKind[];
  /** The first parts that the other model does not take, and how many there are. */
  readonly refused: readonly Refusal[];
  readonly refusedCount: number;
}

interface ConvertFileOptions {
  readonly path: string;
  readonly from: Model;
  readonly to: Model;
  readonly signal: AbortSignal;
  /** Faults of the file, by its own model. */
  readonly faults: Faults;
  /** Receives every loss. */
  readonly lost: (loss: NamedLoss) => void;
  readonly progress: (bytesRead: number, records: number) => void;
}

type Path = readonly (string | number)[];

/** Maximum number of places of one kind that are kept. */
const KEPT = 100;
const SHOWN_FAULTS = 3;
/** Replaces the name of a member that no model describes, which may itself be personal. */
const UNKNOWN = '(unknown member)';

/** @returns `undefined` for a file with faults. @throws the signal's reason; errors of the file system */
export async function convertFile(options: ConvertFileOptions): Promise<ConvertedFile | undefined> {
  const { path, from, to, faults, signal, progress } = options;
  const { leveringen } = from.mapping.envelop;
  const convert = createConverters(from, to);
  const known = new Set(builtInVersions('vs').flatMap((version) => [...memberNames(loadModel('vs', version).schema)]));
  const lists = listsOf(from.mapping);
  const counts = { records: 0, zaken: 0 };
  const kinds = new Map<string, LossKind>();
  const refused: Refusal[] = [];
  let refusedCount = 0;
  const message = new MessageStore(to.mapping);
  /** Converts a part, and notes its losses and whether the other model takes it. */
  const take = (at: Path, convertPart: Converter, value: unknown, part: PartCheck | undefined, key?: string) => {
    const { value: converted, losses } = convertPart(value);
    const keyed = key === undefined ? {} : { key };
    for (const { path: own, ...loss } of losses) {
      const shown = own.map((step) => (typeof step === 'number' || known.has(step) ? step : UNKNOWN));
      const named = { place: toPointer([...at, ...shown]), ...keyed };
      const kind = { member: shown.filter((step) => typeof step === 'string').join('/'), ...loss };
      options.lost({ ...named, ...kind });
      const name = JSON.stringify(kind);
      const noted = kinds.get(name) ?? { ...kind, count: 0, places: [] };
      kinds.set(name, noted);
      noted.count += 1;
      if (noted.places.length < KEPT) noted.places.push(named);
    }
    const isTaken = part === undefined || part.ok(converted);
    if (!isTaken) {
      refusedCount += 1;
      const texts = part.faults(converted).map((error) => `${error.instancePath || '/'} ${describeError(error)}`);
      const shown = [...new Set(texts)].slice(0, SHOWN_FAULTS);
      if (refused.length < KEPT) refused.push({ place: toPointer(at), ...keyed, faults: shown });
    }
    return { value: isRecord(converted) ? converted : {}, isTaken };
  };
  const item = ({ levering, list, nummer, value, fits }: DeliveryItem): void => {
    if (!fits) return;
    const at = [...leveringen, levering, ...(lists.get(list) ?? []), nummer];
    const part = list === 'records' ? to.record : to.zaak;
    const { value: converted, isTaken } = take(at, convert[list], value, part, keyOf(from.mapping, value));
    counts[list] += 1;
    if (isTaken) message.add(levering, list, JSON.stringify(converted));
  };
  try {
    const delivery = await readDelivery(path, { model: from, faults, signal, progress, consumers: [{ item }] });
    if (delivery === undefined) {
      message.close();
      return undefined;
    }
    for (const { nummer, head } of delivery.leveringen)
      message.leveringen.push(take([...leveringen, nummer], convert.levering, head, to.levering).value);
    const { value: envelop } = take([], convert.envelop, delivery.envelop, to.envelop);
    return { message, envelop, ...counts, losses: [...kinds.values()], refused, refusedCount };
  } catch (error) {
    message.close();
    throw error;
  }
}

type Converter = (value: unknown) => ReturnType<typeof convertValue>;

/** A converter for each part in which a message is read. */
function createConverters(from: Model, to: Model): Record<ItemList | 'levering' | 'envelop', Converter> {
  const equivalents = readEquivalents();
  const converter = (pathIn: (mapping: Mapping) => readonly string[] | undefined): Converter => {
    const [own, other] = [from, to].map(({ schema, mapping }) => {
      const path = pathIn(mapping);
      return path && new Shape(schema).at(path);
    });
    return (value) => convertValue(value, { from: own, to: other }, equivalents);
  };
  const levering = ({ envelop }: Mapping): readonly string[] => [...envelop.leveringen, '*'];
  return {
    envelop: converter(() => []),
    levering: converter(levering),
    records: converter((mapping) => [...levering(mapping), ...mapping.levering.records, '*']),
    zaken: converter(
      (mapping) => mapping.levering.zaken && [...levering(mapping), ...mapping.levering.zaken.lijst, '*'],
    ),
  };
}

/** Names of the same thing in the built-in models of early warning. */
function readEquivalents(): Equivalents {
  const file: unknown = JSON.parse(readFileSync(new URL('vs.omzetting.json', modelsDirectory), 'utf8'));
  const groupsAt = (member: string): ((name: string) => readonly string[]) => {
    const groups = valueAt(file, [member]);
    const lists = (Array.isArray(groups) ? groups : []).filter((group) => Array.isArray(group));
    const byName = new Map(lists.flatMap((names) => names.map((name) => [String(name), names.map(String)])));
    return (name) => byName.get(name) ?? [];
  };
  return { members: groupsAt('leden'), values: groupsAt('waarden') };
}

const MAX_KEY = 80;

/** The supplier's own key of a record, or of the first signal of a case; absent where it may be a citizen service number. */
function keyOf({ levering: { recordId = [], zaken } }: Mapping, value: unknown): string | undefined {
  const signalen = zaken && valueAt(value, zaken.signalen);
  const key = Array.isArray(signalen) ? valueAt(signalen[0], zaken?.signaalId ?? []) : valueAt(value, recordId);
  if (typeof key !== 'string' || key === '' || (key.match(/\d{9}/g) ?? []).some(isBsn)) return undefined;
  return key.slice(0, MAX_KEY).replaceAll(/\p{Cc}/gu, '?');
}
