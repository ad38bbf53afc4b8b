/**
 * How bodies are compressed. A page of history has a beginning that never changes and an end that does: the beginning is compressed once, up
 * to a byte boundary, and an end is added to it as a block that is not compressed. The result is one ordinary stream of its format.
 */
import { promisify } from 'node:util';
import { brotliCompress, constants, crc32, gzip, zstdCompress } from 'node:zlib';

/** In the order that we prefer when the client has no preference: by what they cost. */
export const ENCODINGS = ['zstd', 'br', 'gzip'] as const;
export type CompressedEncoding = (typeof ENCODINGS)[number];

/** Smaller bodies gain nothing. */
export const WORTH_COMPRESSING_BYTES = 1024;

/** What is gained beyond these is not worth its time; every body is compressed alike. */
const BROTLI_QUALITY = 4;
const GZIP_LEVEL = 5;
const ZSTD_LEVEL = 3;

/** Compresses a whole body on a thread of its own. */
export function compress(bytes: Buffer, encoding: CompressedEncoding): Promise<Buffer> {
  return compressors[encoding](bytes, {});
}

/** What ends a compressed stream; absent: its format's own end. */
interface Finish {
  readonly gzip?: number;
  readonly br?: number;
  readonly zstd?: number;
}

/** Ends at a byte boundary, and leaves the stream open. */
const FLUSH: Finish = {
  gzip: constants.Z_SYNC_FLUSH,
  br: constants.BROTLI_OPERATION_FLUSH,
  zstd: constants.ZSTD_e_flush,
};

const compressors = {
  gzip: (bytes: Buffer, finish: Finish) => promisify(gzip)(bytes, { level: GZIP_LEVEL, finishFlush: finish.gzip }),
  br: (bytes: Buffer, finish: Finish) =>
    promisify(brotliCompress)(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
      finishFlush: finish.br,
    }),
  zstd: (bytes: Buffer, finish: Finish) =>
    promisify(zstdCompress)(bytes, {
      params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL },
      finishFlush: finish.zstd,
    }),
} as const;

/** The compressed beginning of a body, open for an end of at most 65 535 bytes. */
export interface OpenBody {
  readonly encoding: CompressedEncoding;
  readonly bytes: Buffer;
  /** Of the beginning before it was compressed; for gzip. */
  readonly plainBytes: number;
  readonly crc: number;
}

const LONGEST_END = 0xffff;

/** Compresses the beginning of a body, on a thread of its own. */
export async function openBody(plain: Buffer, encoding: CompressedEncoding): Promise<OpenBody> {
  return {
    encoding,
    bytes: await compressors[encoding](plain, FLUSH),
    plainBytes: plain.length,
    crc: encoding === 'gzip' ? crc32(plain) : 0,
  };
}

/** @throws {RangeError} when the end is empty or too long */
export function closeBody({ encoding, bytes, plainBytes, crc }: OpenBody, end: Buffer): Buffer {
  if (end.length < 1 || end.length > LONGEST_END) throw new RangeError(`an end of ${end.length} bytes`);
  if (encoding === 'gzip') {
    // RFC 1951 3.2.4: the last block, stored; RFC 1952 2.3.1: CRC and size of all of it.
    const frame = Buffer.from([0x01, 0, 0, 0, 0]);
    frame.writeUInt16LE(end.length, 1);
    frame.writeUInt16LE(end.length ^ 0xffff, 3);
    const trailer = Buffer.alloc(8);
    trailer.writeUInt32LE(crc32(end, crc), 0);
    trailer.writeUInt32LE((plainBytes + end.length) % 2 ** 32, 4);
    return Buffer.concat([bytes, frame, end, trailer]);
  }
  const frame = Buffer.alloc(3);
  if (encoding === 'br') {
    // RFC 7932 9.2: not the last, four nibbles of length less one, uncompressed; then an empty last one.
    frame.writeUIntLE(((end.length - 1) << 3) | (1 << 19), 0, 3);
    return Buffer.concat([bytes, frame, end, Buffer.from([0x03])]);
  }
  // RFC 8878 3.1.1.2: the last block, raw.
  frame.writeUIntLE((end.length << 3) | 1, 0, 3);
  return Buffer.concat([bytes, frame, end]);
}
