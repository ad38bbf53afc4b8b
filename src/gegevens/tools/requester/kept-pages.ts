/** The answers of a request as received: evidence, and the point where an interrupted request resumes. */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecord } from '../../../lib/json/json-value.ts';
import { writeWhole } from '../delivery-files.ts';
import { parseJson, RequesterError, type SupplierResponse } from './send-request.ts';

/** The request; a directory is continued only with the same one. */
interface RequestIdentity {
  readonly url: string;
  readonly variant: string;
  readonly model: string;
  /** JSON text of the first request. */
  readonly body: string;
}

export interface SentRequest {
  readonly body: string;
  readonly digest: string;
  readonly signature: string;
}

export type KeptPages = Awaited<ReturnType<typeof openKeptPages>>;

/**
 * Opens a directory, and creates it if needed. Each page is two files: the exact bytes of the answer and, written last, the request and headers.
 * @param isResumed whether to continue the run of the first page; otherwise a new run begins, whose pages replace those of the same number
 * @throws {RequesterError} when that run is of another request
 */
export async function openKeptPages(directory: string, identity: RequestIdentity, isResumed: boolean) {
  await mkdir(directory, { recursive: true });
  const files = (page: number) => ({
    body: join(directory, `page-${page}.json`),
    about: join(directory, `page-${page}.exchange.json`),
  });
  const earlier = isResumed ? await readJson(files(1).about) : undefined;
  const other = isRecord(earlier?.identity) ? earlier.identity : undefined;
  const differs = Object.entries(identity).filter(([name, value]) => other !== undefined && other[name] !== value);
  if (differs.length > 0) {
    const what = differs.map(([name]) => name).join(', ');
    throw new RequesterError(`${directory} holds pages of another request (${what} differs): name another directory`);
  }
  const run = typeof earlier?.run === 'string' ? earlier.run : randomUUID();
  return {
    /** The answer that an earlier run received to this request; `undefined` when absent or incomplete. */
    async find(page: number, requestBody: string): Promise<SupplierResponse | undefined> {
      const about = isResumed ? await readJson(files(page).about) : undefined;
      const body = await readFile(files(page).body).catch(() => undefined);
      const { request, headers, transactionId } = about ?? {};
      if (about?.run !== run || body === undefined || !isRecord(headers)) return undefined;
      if (!isRecord(request) || request.body !== requestBody) return undefined;
      const lists = Object.entries(headers).map(([name, values]) => [name, [values].flat().map(String)]);
      const answered = { status: 200, headers: Object.fromEntries(lists), body };
      return typeof transactionId === 'string' ? { ...answered, transactionId } : answered;
    },
    async keep(page: number, request: SentRequest, { body, ...answered }: SupplierResponse): Promise<void> {
      await writeWhole(files(page).body, [body]);
      const about = JSON.stringify({ run, identity, request, ...answered }, undefined, 2);
      await writeWhole(files(page).about, [`${about}\n`]);
    },
  };
}

/** @returns `undefined` for a missing file, or one of a run that ended early */
async function readJson(path: string): Promise<Record<string, unknown> | undefined> {
  const text = await readFile(path).catch(() => undefined);
  const value = text && parseJson(text);
  return isRecord(value) ? value : undefined;
}
