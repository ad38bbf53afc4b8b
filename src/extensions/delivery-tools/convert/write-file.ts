/** Writes a file of one model as a file of another, piece by piece. */
import { randomUUID } from 'node:crypto';
import { cutPlan, JsonCutter } from '../../../gegevens/import/json-cutter.ts';
import type { ItemList } from '../../../gegevens/model/mapping.ts';
import type { JsonObject } from '../../../lib/jades/protected-header.ts';
import { isRecord, valueAt, withValueAt } from '../../../lib/json/json-value.ts';
import { type Converter, type Judgement, readPieces } from './judge-file.ts';

interface WriteOptions {
  readonly path: string;
  readonly converter: Converter;
  readonly judgement: Judgement;
  readonly signal: AbortSignal;
  /** Takes the next piece of the converted file. */
  readonly write: (piece: Buffer) => Promise<void>;
  readonly progress: (bytesRead: number, records: number) => void;
}

/** Text, or the place of a list of a levering. */
type Token = string | { readonly levering: number; readonly list: ItemList };

/** Leaves out the items that the other model refuses. @throws {Error} the signal's reason; what the file system or `write` says */
export async function writeConverted(options: WriteOptions): Promise<void> {
  const { path, converter, judgement, signal, write, progress } = options;
  const { from, to } = converter;
  const tokens = frameOf(converter, judgement);
  const pieces: (Buffer | string)[] = [];
  let next = 0;
  let written = 0;
  let records = 0;
  /** Writes the text up to the place of a list; without one, up to the end. */
  const goTo = (levering?: number, list?: ItemList): void => {
    for (; next < tokens.length; next += 1) {
      const token = tokens[next];
      if (typeof token === 'string') pieces.push(token);
      else if (token?.levering === levering && token?.list === list) return;
      written = 0;
    }
  };
  const cutter = new JsonCutter(cutPlan(from.mapping), {
    item: (levering, list, _index, { bytes }) => {
      goTo(levering, list);
      records += 1;
      const { value, isChanged } = converter.item(list, JSON.parse(bytes.toString()));
      const part = list === 'records' ? to.record : to.zaak;
      if (part?.ok(value) === false) return;
      if (written > 0) pieces.push(',\n');
      written += 1;
      // The bytes are used again once this returns.
      pieces.push(isChanged ? JSON.stringify(value) : Buffer.from(bytes));
    },
    levering: () => undefined,
  });
  const flush = async (): Promise<void> => {
    const whole = Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)));
    pieces.length = 0;
    if (whole.length > 0) await write(whole);
  };
  await readPieces(path, signal, async (piece, bytesRead) => {
    cutter.feed(piece);
    progress(bytesRead, records);
    await flush();
  });
  cutter.finish();
  if (records !== judgement.records + judgement.zaken) throw new Error(`${path} changed while it was read`);
  goTo();
  pieces.push('\n');
  await flush();
}

/** The text around the items, in the order of the file. */
function frameOf(converter: Converter, { delivery }: Judgement): Token[] {
  const nonce = randomUUID();
  const marks = { records: `records ${nonce}`, zaken: `zaken ${nonce}`, leveringen: `leveringen ${nonce}` };
  const placeholder = new RegExp(`"((?:records|zaken|leveringen) ${nonce})"`);
  const { envelop, levering } = converter.to.mapping;
  const whole = marked(converter.envelop(delivery.envelop).value, envelop.leveringen, marks.leveringen);
  const [before = '', mark, after = ''] = JSON.stringify(whole).split(placeholder);
  if (mark === undefined) return [before];
  const leveringen = delivery.leveringen.flatMap(({ nummer, head }): Token[] => {
    const records = marked(converter.levering(head).value, levering.records, marks.records);
    const both = levering.zaken === undefined ? records : marked(records, levering.zaken.lijst, marks.zaken);
    const tokens = JSON.stringify(both)
      .split(placeholder)
      .flatMap((piece): Token[] => {
        if (piece === marks.records) return ['[\n', { levering: nummer, list: 'records' }, '\n]'];
        if (piece === marks.zaken) return ['[\n', { levering: nummer, list: 'zaken' }, '\n]'];
        return [piece];
      });
    return nummer === 0 ? tokens : [',\n', ...tokens];
  });
  return [`${before}[\n`, ...leveringen, `\n]${after}`];
}

/** With a mark in place of a list, if there is one. */
function marked(value: unknown, list: readonly string[], mark: string): JsonObject {
  const object = isRecord(value) ? value : {};
  return valueAt(object, list) === undefined ? object : withValueAt(object, list, mark);
}
