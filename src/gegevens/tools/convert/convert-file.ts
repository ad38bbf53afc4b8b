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
import { type Converted, convertValue, type Equivalents, type Loss } from './convert-value.ts';

/** Something lost, or an item that cannot be converted. */
export interface Named {
  readonly place: string;
  /** The key that the supplier gave the record; of a case, that of its first signal. */
  readonly key?: string;
}

export interface NamedLoss extends Named, Pick<Loss, 'reason' | 'value'> {
  /** The path from the record by the names of the file's model: `client/Achternaam`. */
  readonly member: string;
}

export interface Refusal extends Named {
  readonly faults: readonly string[];
}

export interface ConvertedFile {
  readonly message: MessageStore;
  readonly envelop: JsonObject;
  readonly records: number;
  readonly zaken: number;
}

interface ConvertFileOptions {
  readonly path: string;
  readonly from: Model;
  readonly to: Model;
  readonly signal: AbortSignal;
  /** Faults of the file, by its own model. */
  readonly faults: Faults;
  readonly lost: (loss: NamedLoss) => void;
  readonly refused: (refusal: Refusal) => void;
  readonly progress: (bytesRead: number, records: number) => void;
}

type Path = readonly (string | number)[];

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
  const message = new MessageStore(to.mapping);
  /** Converts a part and names its losses. @returns the value, and whether the other model takes it */
  const take = (at: Path, convertPart: Converter, value: unknown, part: PartCheck | undefined, isItem = false) => {
    const { value: converted, losses } = convertPart(value);
    const key = isItem ? keyOf(from.mapping, value) : {};
    for (const { path: own, ...loss } of losses) {
      const shown = own.map((step) => (typeof step === 'number' || known.has(step) ? step : UNKNOWN));
      const member = shown.filter((step) => typeof step === 'string').join('/');
      options.lost({ place: toPointer([...at, ...shown]), ...key, member, ...loss });
    }
    const isTaken = part === undefined || part.ok(converted);
    if (!isTaken) {
      const texts = part.faults(converted).map((error) => `${error.instancePath || '/'} ${describeError(error)}`);
      options.refused({
        place: toPointer(at),
        ...key,
        faults: [...new Set(texts)].slice(0, SHOWN_FAULTS),
      });
    }
    return { value: isRecord(converted) ? converted : {}, isTaken };
  };
  const convertItem = ({ levering, list, nummer, value, fits }: DeliveryItem): void => {
    if (!fits) return;
    const at = [...leveringen, levering, ...(lists.get(list) ?? []), nummer];
    const part = list === 'records' ? to.record : to.zaak;
    const { value: converted, isTaken } = take(at, convert[list], value, part, true);
    counts[list] += 1;
    if (isTaken) message.add(levering, list, JSON.stringify(converted));
  };
  try {
    const delivery = await readDelivery(path, {
      model: from,
      faults,
      signal,
      progress,
      consumers: [{ item: convertItem }],
    });
    if (delivery === undefined) {
      message.close();
      return undefined;
    }
    for (const { nummer, head } of delivery.leveringen) {
      message.leveringen.push(take([...leveringen, nummer], convert.levering, head, to.levering).value);
    }
    const { value: envelop } = take([], convert.envelop, delivery.envelop, to.envelop);
    return { message, envelop, ...counts };
  } catch (error) {
    message.close();
    throw error;
  }
}

type Converter = (value: unknown) => Converted;

/** A converter for each part in which a message is read. */
function createConverters(from: Model, to: Model): Record<ItemList | 'levering' | 'envelop', Converter> {
  const equivalents = readEquivalents();
  const converter = (pathIn: (mapping: Mapping) => readonly string[] | undefined): Converter => {
    const shapeIn = ({ schema, mapping }: Model): Shape | undefined => {
      const path = pathIn(mapping);
      return path && new Shape(schema).at(path);
    };
    const [own, other] = [shapeIn(from), shapeIn(to)];
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
    const byName = new Map<string, readonly string[]>();
    for (const group of Array.isArray(groups) ? groups : []) {
      const names = Array.isArray(group) ? group.map(String) : [];
      for (const name of names) byName.set(name, names);
    }
    return (name) => byName.get(name) ?? [name];
  };
  return { members: groupsAt('leden'), values: groupsAt('waarden') };
}

const MAX_KEY = 80;

/** The supplier's own key of a record, or of the first signal of a case; absent where it may be a citizen service number. */
function keyOf({ levering: { recordId = [], zaken } }: Mapping, value: unknown): { readonly key?: string } {
  const signalen = zaken && valueAt(value, zaken.signalen);
  const key = Array.isArray(signalen) ? valueAt(signalen[0], zaken?.signaalId ?? []) : valueAt(value, recordId);
  if (typeof key !== 'string' || key === '' || (key.match(/\d{9}/g) ?? []).some(isBsn)) return {};
  return { key: key.slice(0, MAX_KEY).replaceAll(/\p{Cc}/gu, '?') };
}
