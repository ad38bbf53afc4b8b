/** Pages as they were received, in a directory, so that a request that was broken off can continue where it stopped. */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecord } from '../../../lib/json/json-value.ts';
import { writeWhole } from '../delivery-files.ts';
import { parseJson, RequesterError, type SupplierResponse } from './send-request.ts';

/** What a request is for; a directory is continued only with the same. */
interface RequestIdentity {
  readonly url: string;
  readonly variant: string;
  readonly model: string;
  /** JSON text of the first request. */
  readonly body: string;
}

/** An exchange as it was kept. */
export interface KeptExchange {
  readonly answered: SupplierResponse;
  readonly request: { readonly body: string; readonly digest: string; readonly signature: string };
}

export interface KeptPages {
  /** The page as an earlier run received it; `undefined` when it did not, or did not keep all of it. */
  find(page: number): Promise<KeptExchange | undefined>;
  keep(page: number, exchange: KeptExchange): Promise<void>;
}

/**
 * Opens a directory, which is made when it is not there. Each page is two files: the answer to the byte, and what was sent and received
 * around it, written last.
 * @param resume the number of the first page of the run to continue, if there is one; absent: a new run begins, whose pages replace those
 *   of the same number
 * @throws {RequesterError} when that run is of another request
 */
export async function openKeptPages(directory: string, identity: RequestIdentity, resume?: number): Promise<KeptPages> {
  await mkdir(directory, { recursive: true });
  const files = (page: number) => ({
    body: join(directory, `page-${page}.json`),
    about: join(directory, `page-${page}.exchange.json`),
  });
  const earlier = resume === undefined ? undefined : await readJson(files(resume).about);
  const other = isRecord(earlier?.identity) ? earlier.identity : undefined;
  const differs = Object.entries(identity).filter(([name, value]) => other !== undefined && other[name] !== value);
  if (differs.length > 0) {
    const what = differs.map(([name]) => name).join(', ');
    throw new RequesterError(`${directory} holds pages of another request (${what} differs): name another directory`);
  }
  const run = typeof earlier?.run === 'string' ? earlier.run : randomUUID();
  return {
    async find(page) {
      const about = await readJson(files(page).about);
      if (about?.run !== run || resume === undefined) return undefined;
      const body = await readFile(files(page).body).catch(() => undefined);
      return body === undefined ? undefined : readExchange(about, body);
    },
    async keep(page, { request, answered: { body, ...answered } }) {
      await writeWhole(files(page).body, [body]);
      const about = JSON.stringify({ run, identity, request, ...answered }, undefined, 2);
      await writeWhole(files(page).about, [`${about}\n`]);
    },
  };
}

/** @returns `undefined` for a file that is not there, or of a run that ended before it was complete */
async function readJson(path: string): Promise<Record<string, unknown> | undefined> {
  const text = await readFile(path).catch(() => undefined);
  const value = text && parseJson(text);
  return isRecord(value) ? value : undefined;
}

function readExchange(about: Record<string, unknown>, received: Buffer): KeptExchange | undefined {
  const { request, status, headers, transactionId } = about;
  if (!isRecord(request) || !isRecord(headers) || typeof status !== 'number') return undefined;
  const { body, digest, signature } = request;
  if (typeof body !== 'string' || typeof digest !== 'string' || typeof signature !== 'string') return undefined;
  const lists = Object.entries(headers).map(([name, values]) => [
    name,
    Array.isArray(values) ? values.map(String) : [],
  ]);
  return {
    request: { body, digest, signature },
    answered: {
      status,
      headers: Object.fromEntries(lists),
      body: received,
      transactionId: typeof transactionId === 'string' ? transactionId : undefined,
    },
  };
}
