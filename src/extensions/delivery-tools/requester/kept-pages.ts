/** Pages as they were received, in a directory, so that a request that was broken off goes on where it stopped. */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecord } from '../../../lib/json/json-value.ts';
import type { DeliveredPage } from './request-delivery.ts';
import { RequesterError, type SupplierResponse } from './send-request.ts';

/** What a request is for; a directory is continued only with the same. */
export interface RequestIdentity {
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
  keep(page: DeliveredPage): Promise<void>;
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
  if (other !== undefined) {
    const differs = Object.entries(identity).filter(([name, value]) => other[name] !== value);
    if (differs.length > 0) {
      const what = differs.map(([name]) => name).join(', ');
      throw new RequesterError(`${directory} holds pages of another request (${what} differs): name another directory`);
    }
  }
  const run = typeof earlier?.run === 'string' ? earlier.run : randomUUID();
  return {
    async find(page) {
      const about = await readJson(files(page).about);
      const exchange = about?.run === run && resume !== undefined ? readExchange(about) : undefined;
      if (exchange === undefined) return undefined;
      const body = await readFile(files(page).body).catch(() => undefined);
      return body === undefined ? undefined : { ...exchange, answered: { ...exchange.answered, body } };
    },
    async keep({ page, answered, request }) {
      const { status, headers, transactionId } = answered;
      await writeWhole(files(page).body, answered.body);
      const about = {
        run,
        identity,
        request,
        status,
        headers,
        ...(transactionId === undefined ? {} : { transactionId }),
      };
      await writeWhole(files(page).about, `${JSON.stringify(about, undefined, 2)}\n`);
    },
  };
}

/** The answers hold personal data. */
const OWNER_ONLY = 0o600;

/** A file is there whole or not at all. */
async function writeWhole(path: string, contents: string | Buffer): Promise<void> {
  await writeFile(`${path}.part`, contents, { mode: OWNER_ONLY });
  await rename(`${path}.part`, path);
}

async function readJson(path: string): Promise<Record<string, unknown> | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    return isRecord(value) ? value : undefined;
  } catch {
    // Not there, or of a run that ended before it was complete: as good as none.
    return undefined;
  }
}

function readExchange({ request, status, headers, transactionId }: Record<string, unknown>): KeptExchange | undefined {
  if (!isRecord(request) || !isRecord(headers) || typeof status !== 'number') return undefined;
  const { body, digest, signature } = request;
  if (typeof body !== 'string' || typeof digest !== 'string' || typeof signature !== 'string') return undefined;
  const values = Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.map(String) : []]);
  return {
    request: { body, digest, signature },
    answered: {
      status,
      headers: Object.fromEntries(values),
      body: Buffer.alloc(0),
      transactionId: typeof transactionId === 'string' ? transactionId : undefined,
    },
  };
}
