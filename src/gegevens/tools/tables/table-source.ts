import { extname } from 'node:path';
import { type JsonObject, pointerSteps, withValueAt } from '../../../lib/json/json-value.ts';
import { inPieces } from '../delivery-files.ts';
import type { MessageStore } from '../message-store.ts';
import { openCsv } from './csv-file.ts';
import type { Plan } from './plan.ts';
import { firstBytes, type OpenOptions, type TableFile, UnreadableTable } from './table-file.ts';
import { openXlsx } from './xlsx/workbook.ts';

const ZIP = Buffer.from('PK\u0003\u0004', 'latin1');
/** The format of Excel before 2007, and of workbooks with a password. */
const OLE = Buffer.from([0xd0, 0xcf, 0x11, 0xe0]);

/** Opens a file of tables: XLSX by its name or its first bytes, else CSV. @throws {UnreadableTable} when it is neither; errors of the file system */
export async function openTableFile(path: string, plan: Plan, options: OpenOptions): Promise<TableFile> {
  const start = await firstBytes(path, ZIP.length);
  if (start.equals(OLE)) {
    throw new UnreadableTable('an XLS file, or a workbook with a password: save it as XLSX without a password');
  }
  const isXlsx = start.equals(ZIP) || ['.xlsx', '.xlsm'].includes(extname(path).toLowerCase());
  if (isXlsx) return await openXlsx(path, options);
  return await openCsv(path, plan.content.csv ?? {}, options);
}

interface EnvelopOptions {
  readonly plan: Plan;
  readonly now: Date;
  readonly period?: { readonly start: string; readonly end: string } | undefined;
}

/** The members of the message around its leveringen. */
export function envelopOf({ plan: { content, model }, now, period }: EnvelopOptions): JsonObject {
  const { startdatum, einddatum, aanleverdatumEnTijd } = model.mapping.envelop;
  let envelop = withValueAt({}, aanleverdatumEnTijd, now.toISOString());
  for (const [pointer, value] of Object.entries(content.envelope)) {
    envelop = withValueAt(envelop, pointerSteps(pointer), value);
  }
  if (period === undefined) return envelop;
  return withValueAt(withValueAt(envelop, startdatum, period.start), einddatum, period.end);
}

/** The message of tables, in the form that an import reads. */
export function* messageBytes(message: MessageStore, plan: Plan, envelop: JsonObject): Generator<Buffer> {
  const text = message.text(withValueAt(envelop, plan.model.mapping.envelop.leveringen, []));
  for (const piece of inPieces(text)) yield Buffer.from(piece);
}
