import { open } from 'node:fs/promises';
import { type JsonObject, valueAt, withValueAt } from '../domain/model/json-pointer.ts';
import type { Mapping } from '../domain/model/mapping.ts';
import { RequesterError } from './requester-error.ts';

/** A file of the exchange model that grows page by page, and can be imported again. */
export interface MergedFile {
  add(gegevens: JsonObject): Promise<void>;
  /** Ends the file; it is not whole before that. */
  end(): Promise<void>;
  close(): Promise<void>;
}

const MARK = '\u0000leveringen\u0000';

/** @throws {RequesterError} when the file cannot be written */
export async function openMergedFile(path: string, { envelop, levering: { teller } }: Mapping): Promise<MergedFile> {
  const file = await open(path, 'w').catch((cause: unknown) => {
    throw new RequesterError(`${path} cannot be written`, { cause });
  });
  let after: string | undefined;
  let count = 0;
  return {
    async add(gegevens) {
      const list = valueAt(gegevens, envelop.leveringen);
      if (after === undefined) {
        const [before = '', rest = ''] = JSON.stringify(withValueAt(gegevens, envelop.leveringen, MARK)).split(
          JSON.stringify(MARK),
        );
        after = rest;
        await file.write(`${before}[`);
      }
      for (const levering of Array.isArray(list) ? list : []) {
        count += 1;
        // Each page counts from 1.
        await file.write(`${count === 1 ? '' : ','}${JSON.stringify(withValueAt(levering, teller, count))}`);
      }
    },
    end: async () => {
      await file.write(`]${after ?? ''}\n`);
    },
    close: () => file.close(),
  };
}
