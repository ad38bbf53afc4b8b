/** Makes a message of one model of a file of another, on disk: only at its end it is known whether it may be written. */
import { readFileSync } from 'node:fs';
import { describeError, Faults, type ImportFault } from '../../../gegevens/import/faults.ts';
import type { ItemList, Mapping } from '../../../gegevens/model/mapping.ts';
import { builtInVersions, loadModel, type Model, type PartCheck } from '../../../gegevens/model/model.ts';
import { readDelivery } from '../../../gegevens/store/import-file.ts';
import { isRecord, type JsonObject, toPointer, valueAt } from '../../../lib/json/json-value.ts';
import { modelsDirectory } from '../../../settings/gegevens-settings.ts';
import { isBsn } from '../check/record-rules.ts';
import { MessageStore } from '../message-store.ts';
import { memberNames, Shape } from '../model-shape.ts';
import { type Converted, convertValue, type Equivalents, type Loss, type LossReason } from './convert-value.ts';

/** Something lost, or an item that cannot be converted. */
export interface Named {
  /** JSON Pointer in the file. */
  readonly place: string;
  /** The key that the supplier gave the record; of a case, that of its first signal. */
  readonly key?: string;
}

export interface NamedLoss extends Named {
  /** By the names of the file's model, from the record: `client/Achternaam`. */
  readonly member: string;
  readonly reason: LossReason;
  readonly value?: string;
}

export interface Refusal extends Named {
  /** A record or case, which can be left out; else the message or a levering itself. */
  readonly isItem: boolean;
  readonly faults: readonly string[];
}

/** What became of a file. */
export interface ConvertedFile {
  /** Without the items that the other model refuses. */
  readonly message: MessageStore;
  readonly envelop: JsonObject;
  readonly records: number;
  readonly zaken: number;
  /** Records and cases that are rewritten; the others stay to the byte as they are. */
  readonly changed: number;
}

interface ConvertFileOptions {
  readonly path: string;
  readonly from: Model;
  readonly to: Model;
  readonly signal: AbortSignal;
  readonly lost: (loss: NamedLoss) => void;
  readonly refused: (refusal: Refusal) => void;
  /** Awaited between pieces of the file. */
  readonly progress: (bytesRead: number, records: number) => Promise<void>;
}

/** A file is not of the model that it was said to be of. */
export class NotOfModel extends Error {
  readonly faults: readonly ImportFault[];
  constructor(faults: readonly ImportFault[]) {
    super('the file does not fit its model');
    this.name = 'NotOfModel';
    this.faults = faults.toSorted((a, b) => a.line - b.line);
  }
}

type Path = readonly (string | number)[];

const SHOWN_FAULTS = 3;
/** Stands for the name of a member that no model describes: it may itself be personal. */
const UNKNOWN = '(unknown member)';

/** @throws {NotOfModel}; the signal's reason; what the file system says */
export async function convertFile({ path, from, to, ...options }: ConvertFileOptions): Promise<ConvertedFile> {
  const { envelop, levering } = from.mapping;
  const convert = createConverters(from, to);
  const known = new Set(builtInVersions('vs').flatMap((version) => [...memberNames(loadModel('vs', version).schema)]));
  const lists = { records: levering.records, zaken: levering.zaken?.lijst ?? [] };
  const counts = { records: 0, zaken: 0, changed: 0 };
  const message = new MessageStore(to.mapping);
  const reportLosses = (at: Path, key: { readonly key?: string }, losses: readonly Loss[]): void => {
    for (const { path: own, ...loss } of losses) {
      const shown = own.map((step) => (typeof step === 'number' || known.has(step) ? step : UNKNOWN));
      const member = shown.filter((step) => typeof step === 'string').join('/');
      options.lost({ place: toPointer([...at, ...shown]), ...key, member, ...loss });
    }
  };
  /** @returns whether the other model takes a part */
  const judge = (at: Path, part: PartCheck | undefined, value: unknown, key?: { readonly key?: string }): boolean => {
    if (part === undefined || part.ok(value)) return true;
    const faults = part.faults(value).map((error) => `${error.instancePath || '/'} ${describeError(error)}`);
    const shown = [...new Set(faults)].slice(0, SHOWN_FAULTS);
    options.refused({ place: toPointer(at), ...key, isItem: key !== undefined, faults: shown });
    return false;
  };
  const faults = new Faults();
  try {
    const delivery = await readDelivery(path, {
      ...{ model: from, faults, signal: options.signal, progress: options.progress },
      item: (nummer, list, index, bytes) => {
        const text = bytes.toString();
        const own: unknown = JSON.parse(text);
        const { value, isChanged, losses } = convert[list](own);
        const at = [...envelop.leveringen, nummer, ...lists[list], index];
        const key = keyOf(from.mapping, list, own);
        counts[list] += 1;
        if (isChanged) counts.changed += 1;
        reportLosses(at, key, losses);
        if (!judge(at, list === 'records' ? to.record : to.zaak, value, key)) return;
        message.add({ levering: nummer, list }, isChanged ? JSON.stringify(value) : text);
      },
    });
    if (delivery === undefined) throw new NotOfModel(faults.list);
    for (const { nummer, head } of delivery.leveringen) {
      const { value, losses } = convert.levering(head);
      const at = [...envelop.leveringen, nummer];
      reportLosses(at, {}, losses);
      judge(at, to.levering, value);
      message.leveringen.push(isRecord(value) ? value : {});
    }
    const whole = convert.envelop(delivery.envelop);
    reportLosses([], {}, whole.losses);
    judge([], to.envelop, whole.value);
    return { message, envelop: isRecord(whole.value) ? whole.value : {}, ...counts };
  } catch (error) {
    message.close();
    throw error;
  }
}

type Converter = (value: unknown) => Converted;

/** How the parts in which a message is read become parts of another model. */
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
function keyOf({ levering: { recordId, zaken } }: Mapping, list: ItemList, value: unknown): { readonly key?: string } {
  let key: unknown;
  if (list === 'records') key = recordId && valueAt(value, recordId);
  else if (zaken !== undefined) {
    const signalen = valueAt(value, zaken.signalen);
    key = Array.isArray(signalen) ? valueAt(signalen[0], zaken.signaalId) : undefined;
  }
  if (typeof key !== 'string' || key === '' || (key.match(/\d{9}/g) ?? []).some(isBsn)) return {};
  return { key: key.slice(0, MAX_KEY).replaceAll(/\p{Cc}/gu, '?') };
}
