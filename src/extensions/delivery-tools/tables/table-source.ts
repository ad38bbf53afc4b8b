import { open, stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { DeliveryReader } from '../../../gegevens/import/delivery-reader.ts';
import { Faults, type ImportFault, ImportStopped } from '../../../gegevens/import/faults.ts';
import type { Model } from '../../../gegevens/model/model.ts';
import type { DeliverySource } from '../../../gegevens/store/import-file.ts';
import type { JsonObject } from '../../../lib/jades/protected-header.ts';
import { pointerSteps, withValueAt } from '../../../lib/json/json-value.ts';
import type { TableFile } from './cell.ts';
import { openCsv } from './csv-file.ts';
import type { DeliveryMessage } from './delivery-message.ts';
import type { Plan } from './plan.ts';
import { UnreadableTable } from './table-faults.ts';
import { openXlsx } from './xlsx/xlsx-file.ts';

interface OpenOptions {
  readonly plan: Plan;
  readonly signal: AbortSignal;
  readonly onBytes: (bytes: number) => void;
}

const JUDGED_BYTES = 256 * 1024;
const ZIP = Buffer.from('PK\u0003\u0004', 'latin1');
/** What Excel wrote before 2007, and what it makes of a workbook with a password. */
const OLE = Buffer.from([0xd0, 0xcf, 0x11, 0xe0]);

/**
 * Opens a file of tables: XLSX by its name or its first bytes, else CSV.
 * @throws {UnreadableTable} when it is neither; what the file system says
 */
export async function openTableFile(path: string, { plan, signal, onBytes }: OpenOptions): Promise<TableFile> {
  const start = await firstBytes(path);
  if (start.equals(OLE)) {
    throw new UnreadableTable('an XLS file, or a workbook with a password: save it as XLSX without a password');
  }
  const isXlsx = start.equals(ZIP) || ['.xlsx', '.xlsm'].includes(extname(path).toLowerCase());
  if (isXlsx) return await openXlsx(path, { signal, onBytes });
  const headers = plan.content.tables.flatMap(({ header }) => (typeof header === 'number' ? [header] : []));
  return await openCsv(path, { csv: plan.content.csv ?? {}, header: headers[0], signal, onBytes });
}

async function firstBytes(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(ZIP.length), 0, ZIP.length, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

interface EnvelopOptions {
  readonly plan: Plan;
  readonly now: Date;
  /** Replaces the first and last day of the mapping. */
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

/** The message of tables, as what an import reads. @param path of the file of tables, whose size is noted */
export function messageSource(message: DeliveryMessage, envelop: JsonObject, path: string): DeliverySource {
  const pieces = message.pieces(envelop);
  // What did not fit into the buffer of the last call.
  let rest: Buffer = Buffer.alloc(0);
  return {
    stat: () => stat(path),
    read: async (buffer, offset, length) => {
      const end = offset + length;
      let at = offset;
      while (at < end) {
        const copied = rest.copy(buffer, at, 0, Math.min(rest.length, end - at));
        rest = rest.subarray(copied);
        at += copied;
        if (at === end) break;
        const next = pieces.next();
        if (next.done) break;
        // Most pieces fit and need no buffer of their own.
        if (next.value.length * 3 <= end - at) at += buffer.write(next.value, at);
        else rest = Buffer.from(next.value);
      }
      return { bytesRead: at - offset };
    },
    close: async () => message.close(),
  };
}

/**
 * Judges a message as an import would, down to what only all records together can have wrong: two equal ones, a period that ends before
 * it starts. Afterwards it cannot be read again.
 */
export async function judgeMessage(source: DeliverySource, model: Model): Promise<readonly ImportFault[]> {
  const faults = new Faults();
  const reader = new DeliveryReader({
    model,
    faults,
    traitsOf: () => ({ begin: undefined, einde: undefined, sleutel: undefined, gemeente: undefined }),
    sink: { text: () => undefined, traits: () => undefined },
  });
  const buffer = Buffer.allocUnsafe(JUDGED_BYTES);
  try {
    for (;;) {
      const { bytesRead } = await source.read(buffer, 0, buffer.length);
      if (bytesRead === 0) break;
      reader.feed(buffer.subarray(0, bytesRead));
    }
    reader.finish();
  } catch (error) {
    if (!(error instanceof ImportStopped)) throw error;
  }
  return faults.list;
}
