/** Reads an XLSX file as a ZIP file of XML parts: as streams, within limits. */
import type { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import sax from 'sax';
import { type Entry, openPromise } from 'yauzl';
import { UnreadableTable } from '../table-file.ts';

const MAX_ENTRIES = 10_000;
/** A sheet of a million rows and thirty columns is about two gigabytes. */
const MAX_ENTRY_BYTES = 4 * 1024 ** 3;

export type Archive = Awaited<ReturnType<typeof openArchive>>;

/** @throws {UnreadableTable} when it is not a complete ZIP file; errors of the file system */
export async function openArchive(path: string) {
  const zip = await openPromise(path, { lazyEntries: true, autoClose: false }).catch(rethrow);
  const entries = new Map<string, Entry>();
  try {
    for await (const entry of zip.eachEntry()) {
      if (entries.size >= MAX_ENTRIES) throw new UnreadableTable(`the XLSX file has more than ${MAX_ENTRIES} parts`);
      entries.set(partKey(entry.fileName.replace(/^\//, '')), entry);
    }
  } catch (error) {
    zip.close();
    rethrow(error);
  }
  return {
    has: (name: string): boolean => entries.has(partKey(name)),
    /** The unpacked bytes of an entry. @throws {UnreadableTable} when it is absent, damaged or too large */
    async *read(name: string, mostBytes = MAX_ENTRY_BYTES): AsyncGenerator<Buffer> {
      const entry = entries.get(partKey(name));
      if (entry === undefined) throw new UnreadableTable(`no XLSX file: it has no part ${name}`);
      if (entry.uncompressedSize > mostBytes)
        throw new UnreadableTable(`part ${name} of the XLSX file has more than ${mostBytes} bytes unpacked`);
      let stream: Readable | undefined;
      let checksum = 0;
      try {
        stream = await zip.openReadStreamPromise(entry);
        // The library stops the stream when there are more bytes than the entry declares.
        for await (const chunk of stream) {
          if (!Buffer.isBuffer(chunk)) continue;
          checksum = crc32(chunk, checksum);
          yield chunk;
        }
      } catch (error) {
        rethrow(error);
      } finally {
        stream?.destroy();
      }
      if (checksum !== entry.crc32) throw new UnreadableTable(`part ${name} of the XLSX file is damaged`);
    },
    close: (): void => zip.close(),
  };
}

/** Names of parts are equal whatever their case (ECMA-376 part 2, 6.2.2.3). */
function partKey(name: string): string {
  return name.toLowerCase();
}

/** Keeps errors of the file system; any other means an incomplete ZIP file. */
function rethrow(error: unknown): never {
  if (!(error instanceof Error) || error instanceof UnreadableTable) throw error;
  const isOfSystem = 'syscall' in error && typeof error.syscall === 'string';
  if (isOfSystem || error.name === 'AbortError') throw error;
  throw new UnreadableTable(`not a complete XLSX (ZIP) file: ${error.message}`);
}

export interface XmlElement {
  /** Without its prefix, as those of its attributes. */
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly parent: XmlElement | undefined;
  /** After its last child. */
  text: string;
}

export interface XmlHandler {
  readonly open?: (element: XmlElement) => void;
  readonly close: (element: XmlElement) => void;
}

/** Deeper than any part of a workbook. */
const MAX_DEPTH = 64;
/** Longer than any tag with its attributes, or text: a spreadsheet allows 32 767 characters in a cell. */
const MAX_TOKEN = 1024 * 1024;
const PIECE = 64 * 1024;

/** Reads XML, and returns after each chunk. @throws {UnreadableTable} when it is not well-formed, has a document type or oversized parts */
export async function* readXml(
  source: AsyncIterable<Buffer>,
  part: string,
  handler: XmlHandler,
): AsyncGenerator<undefined> {
  const fail = (what: string): never => {
    throw new UnreadableTable(`part ${part} of the XLSX file ${what}`);
  };
  const parser = new sax.SAXParser(true, { position: false });
  let current: XmlElement | undefined;
  let depth = 0;
  let sinceToken = 0;
  const checkLength = (length: number): void => {
    if (length > MAX_TOKEN) fail(`has a tag or text of more than ${MAX_TOKEN} characters`);
  };
  parser.onopentag = ({ name, attributes }: sax.Tag | { name: string; attributes: object }) => {
    depth += 1;
    sinceToken = 0;
    if (depth > MAX_DEPTH) fail('is nested too deeply');
    const texts: Record<string, string> = {};
    for (const [attribute, value] of Object.entries(attributes))
      if (typeof value === 'string') texts[localName(attribute)] = value;
    if (current !== undefined) current.text = '';
    current = { name: localName(name), attributes: texts, parent: current, text: '' };
    handler.open?.(current);
  };
  parser.onclosetag = () => {
    depth -= 1;
    sinceToken = 0;
    if (current !== undefined) handler.close(current);
    current = current?.parent;
    if (current !== undefined) current.text = '';
  };
  parser.ontext = (text) => {
    if (current === undefined) return;
    sinceToken = 0;
    current.text += text;
    checkLength(current.text.length);
  };
  parser.oncdata = parser.ontext;
  parser.ondoctype = () => fail('has a document type, which no workbook has');
  parser.onerror = () => fail('is not well-formed XML');
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (chunk?: Buffer): string => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      return fail('is not valid UTF-8');
    }
  };
  for await (const chunk of source) {
    const decoded = decode(chunk);
    for (let at = 0; at < decoded.length; at += PIECE) {
      const piece = decoded.slice(at, at + PIECE);
      sinceToken += piece.length;
      parser.write(piece);
      checkLength(sinceToken);
    }
    yield;
  }
  decode();
  parser.close();
}

export async function readWholeXml(
  source: AsyncIterable<Buffer>,
  part: string,
  close: XmlHandler['close'],
): Promise<void> {
  for await (const _ of readXml(source, part, { close }));
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}
