/** Bodies of OTLP over HTTP: their form, and decompression within a limit of memory. */
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Problem } from '../../lib/problem.ts';
import type { Permit, Semaphore } from '../../lib/scheduling.ts';
import { hasOtherCharset } from '../../plugins/headers.ts';
import { isCrowded } from '../../plugins/limits.ts';
import { platformProblems } from '../../plugins/problems.ts';
import { MEDIA_TYPES, type OtlpForm } from './otlp.ts';

const decompress = promisify(gunzip);

/** Deflate never makes more of a byte than this. */
const MOST_PER_BYTE = 1032;

/** The form of a request by its `Content-Type`; undefined for another type. */
export function formOf({ headers }: FastifyRequest): OtlpForm | undefined {
  const [type = ''] = (headers['content-type'] ?? '').split(';', 1);
  if (type.trim().toLowerCase() === MEDIA_TYPES.protobuf) return 'protobuf';
  if (type.trim().toLowerCase() !== MEDIA_TYPES.json || hasOtherCharset(headers['content-type'])) return undefined;
  return 'json';
}

/** Lets a scope take the bodies of both forms as the bytes that came. */
export function acceptOtlpBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(Object.values(MEDIA_TYPES), { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  );
}

interface OtlpBody {
  readonly form: OtlpForm;
  readonly bytes: Uint8Array;
  /** To be released when nothing of the body is used any more. */
  readonly permit: Permit;
}

interface BodyLimits {
  /** After decompression. */
  readonly maxBytes: number;
  /** Bytes of bodies, decompressed, that are worked on at a time. */
  readonly memory: Semaphore;
  readonly client: string;
  readonly signal: AbortSignal;
}

/** @throws {Problem} 400, 413, 415, or 503 when there is no memory for it now */
export async function readOtlpBody(request: FastifyRequest, limits: BodyLimits): Promise<OtlpBody> {
  const form = formOf(request);
  if (form === undefined) throw unsupported('Het mediatype moet application/x-protobuf of application/json zijn.');
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity' && encoding !== 'gzip') throw unsupported('De codering moet gzip zijn, of geen.');
  // Without a body nothing was parsed.
  const body: unknown = request.body ?? Buffer.alloc(0);
  if (!Buffer.isBuffer(body)) throw new TypeError('the body was not read as bytes');
  const { maxBytes, memory, client, signal } = limits;
  const most = encoding === 'gzip' ? Math.min(maxBytes, body.length * MOST_PER_BYTE) : body.length;
  const permit = await memory.acquire({ bytes: most, client }, signal);
  try {
    const bytes = encoding === 'gzip' ? await unpack(body, maxBytes) : body;
    permit.resize(bytes.length);
    if (form === 'json' && isCrowded(bytes)) {
      throw new Problem(platformProblems.invalidRequest, { detail: 'Een object in de inhoud heeft te veel leden.' });
    }
    return { form, bytes, permit };
  } catch (error) {
    permit.release();
    throw error;
  }
}

async function unpack(body: Buffer, maxBytes: number): Promise<Uint8Array> {
  try {
    return await decompress(body, { maxOutputLength: maxBytes });
  } catch (cause) {
    if (cause instanceof RangeError) throw new Problem(platformProblems.bodyTooLarge, { cause });
    throw new Problem(platformProblems.invalidRequest, { detail: 'De inhoud kan niet uitgepakt worden.', cause });
  }
}

function unsupported(detail: string): Problem {
  return new Problem(platformProblems.unsupportedMediaType, { detail });
}
