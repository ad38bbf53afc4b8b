/** Content codings: which one a client gets, and how a body is compressed. */
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib';
import { acceptedEncoding } from '../../http/headers.ts';
import { BROTLI_QUALITY, type CompressedEncoding, GZIP_LEVEL, ZSTD_LEVEL } from './splice.ts';

export type Encoding = CompressedEncoding | 'identity';

/** In the order that we prefer when the client has no preference: by what they cost. */
const ENCODINGS = ['zstd', 'br', 'gzip'] as const;
/** Smaller bodies gain nothing. */
export const WORTH_COMPRESSING_BYTES = 1024;

/** The encoding to answer in (RFC 9110 12.5.3). When nothing of ours is welcome the answer is plain. */
export function chooseEncoding(accept: string | string[] | undefined): Encoding {
  return acceptedEncoding(accept?.toString(), ENCODINGS);
}

const compressors = {
  zstd: (bytes: Buffer) =>
    promisify(zstdCompress)(bytes, { params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL } }),
  br: (bytes: Buffer) =>
    promisify(brotliCompress)(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
    }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes, { level: GZIP_LEVEL }),
} as const;

/** Compresses on a thread of its own: the event loop goes on. */
export function compress(bytes: Buffer, encoding: CompressedEncoding): Promise<Buffer> {
  return compressors[encoding](bytes);
}
