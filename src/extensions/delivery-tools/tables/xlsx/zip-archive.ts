import type { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { UnreadableTable } from '../table-faults.ts';

const MAX_ENTRIES = 10_000;
/** A sheet of a million rows and thirty columns is about two gigabytes. */
const MAX_ENTRY_BYTES = 4 * 1024 ** 3;
/** Above so many bytes, what shrinks to less than one in so many is no table: a table of equal rows shrinks to one in a hundred. */
const BOMB_BYTES = 64 * 1024 * 1024;
const BOMB_RATIO = 500;

/** A ZIP file whose entries are read as streams, within limits. */
export class ZipArchive {
  readonly #zip: ZipFile;
  readonly #entries: ReadonlyMap<string, Entry>;

  /** @throws {UnreadableTable} when it is no whole ZIP file; what the file system says */
  static async open(path: string): Promise<ZipArchive> {
    const zip = await openPromise(path, { lazyEntries: true, autoClose: false }).catch((error: unknown) => {
      throw unreadable(error);
    });
    try {
      const entries = new Map<string, Entry>();
      for await (const entry of zip.eachEntry()) {
        if (entries.size >= MAX_ENTRIES) throw new UnreadableTable(`the XLSX file has more than ${MAX_ENTRIES} parts`);
        entries.set(entry.fileName.replace(/^\//, ''), entry);
      }
      return new ZipArchive(zip, entries);
    } catch (error) {
      zip.close();
      throw unreadable(error);
    }
  }

  private constructor(zip: ZipFile, entries: ReadonlyMap<string, Entry>) {
    this.#zip = zip;
    this.#entries = entries;
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  /** The bytes of an entry, unpacked. @throws {UnreadableTable} when it is absent, damaged or larger than it may be */
  async *read(name: string, mostBytes: number = MAX_ENTRY_BYTES): AsyncGenerator<Buffer> {
    const entry = this.#entries.get(name);
    if (entry === undefined) throw new UnreadableTable(`no XLSX file: it has no part ${name}`);
    const { compressedSize, uncompressedSize } = entry;
    if (entry.isEncrypted()) throw new UnreadableTable('the file has a password: save it without one');
    if (uncompressedSize > mostBytes) {
      throw new UnreadableTable(`part ${name} of the XLSX file has more than ${mostBytes} bytes unpacked`);
    }
    if (uncompressedSize > BOMB_BYTES && uncompressedSize > compressedSize * BOMB_RATIO) {
      throw new UnreadableTable(`part ${name} of the XLSX file unpacks to more than ${BOMB_RATIO} times its size`);
    }
    let stream: Readable | undefined;
    let checksum = 0;
    try {
      stream = await this.#zip.openReadStreamPromise(entry);
      // The library stops the stream when there are more bytes than the entry says.
      for await (const chunk of stream) {
        if (!Buffer.isBuffer(chunk)) continue;
        checksum = crc32(chunk, checksum);
        yield chunk;
      }
    } catch (error) {
      throw unreadable(error);
    } finally {
      stream?.destroy();
    }
    if (checksum !== entry.crc32) throw new UnreadableTable(`part ${name} of the XLSX file is damaged`);
  }

  close(): void {
    this.#zip.close();
  }
}

/** What the file system says stays as it is; anything else says that the file is no whole ZIP file. */
function unreadable(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof UnreadableTable) return error;
  const isOfSystem = 'syscall' in error && typeof error.syscall === 'string';
  if (isOfSystem || error.name === 'AbortError') return error;
  return new UnreadableTable(`not a complete XLSX (ZIP) file: ${error.message}`);
}
