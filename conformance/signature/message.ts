/** Stored signed messages: files with headers and body, exactly as received. */
import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { UsageError } from '../../src/lib/command-error.ts';
import type { Certificate } from '../../src/lib/jades/certificate.ts';
import { isRecord, type JsonObject } from '../../src/lib/json/json-value.ts';
import { parseStrictObject } from '../../src/lib/json/parse-untrusted.ts';
import { decodeUtf8 } from '../../src/lib/text-file.ts';
import type { Exchange, ShownExchange } from '../exchange.ts';

type HeaderPairs = readonly (readonly [name: string, value: string])[];

export interface SignedMessage {
  /** Its name in a report. */
  readonly name: string;
  /** All values of a header. @param name in lower case */
  readonly values: (name: string) => readonly string[];
  readonly body: Buffer;
  /** The protected header, read without checking it; empty when unreadable. */
  readonly header: JsonObject;
  /** How it is shown with a case that it fails. */
  readonly shown?: Exchange | ShownExchange;
}

/** How the certificates of a message are checked. */
export interface Trust {
  readonly anchors: readonly Certificate[];
  readonly at: Date;
  /** @throws {JadesError} certificate-revoked, revocation-unknown; absent: revocation is not checked */
  readonly checkRevocation?: (path: readonly Certificate[]) => Promise<void>;
}

export const SIGNATURE = 'nlgov-adr-payload-sig';
const MAX_BYTES = 256 * 1024 * 1024;

export function signedMessage(name: string, headers: HeaderPairs, body: Buffer): SignedMessage {
  const values = (wanted: string): readonly string[] =>
    headers.filter(([header]) => header.toLowerCase() === wanted).map(([, value]) => value);
  return { name, values, body, header: headerOf(values(SIGNATURE)[0] ?? '') };
}

function headerOf(signature: string): JsonObject {
  try {
    const [encoded = ''] = signature.split('.');
    return parseStrictObject(Buffer.from(encoded, 'base64url').toString());
  } catch {
    return {};
  }
}

/**
 * Reads a file with an HTTP message (made by `koppelvlak-conformance --save`), or one made by `gegevens request --keep`, with a
 * request and its answer.
 * @throws {UsageError} when it contains no message; file system errors
 */
export async function readMessages(path: string): Promise<readonly SignedMessage[]> {
  if ((await stat(path)).size > MAX_BYTES) throw new UsageError(`${path} is larger than ${MAX_BYTES} bytes`);
  const bytes = await readFile(path);
  return path.endsWith('.exchange.json') ? readKept(path, bytes) : [readHttp(basename(path), bytes)];
}

/** Whitespace around a header value. */
const AROUND = /^[ \t]+|(?<![ \t])[ \t]+$/g;

/** An optional first line, headers, an empty line, and the exact body. */
function readHttp(name: string, bytes: Buffer): SignedMessage {
  const end = /\r?\n\r?\n/.exec(bytes.toString('latin1'));
  if (end === null) throw new UsageError(`${name} has no empty line between its headers and its body`);
  const lines = bytes.subarray(0, end.index).toString('latin1').split(/\r?\n/);
  const headers = lines.flatMap((line, index): HeaderPairs => {
    const [, header, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):(.*)$/.exec(line) ?? [];
    if (header !== undefined && value !== undefined) return [[header, value.replaceAll(AROUND, '')]];
    if (index === 0) return [];
    throw new UsageError(`${name}: line ${index + 1} is not a header`);
  });
  return signedMessage(name, headers, bytes.subarray(end.index + end[0].length));
}

async function readKept(path: string, bytes: Buffer): Promise<readonly SignedMessage[]> {
  const name = basename(path, '.exchange.json');
  let about: JsonObject;
  try {
    about = parseStrictObject(decodeUtf8(bytes, path));
  } catch (cause) {
    throw new UsageError(`${path} is not JSON`, { cause });
  }
  const { request, headers } = about;
  if (!isRecord(request) || !isRecord(headers)) throw new UsageError(`${path} contains no request and answer`);
  const sent: HeaderPairs = [
    ['digest', String(request.digest)],
    [SIGNATURE, String(request.signature)],
  ];
  const received = Object.entries(headers).flatMap(([header, values]) =>
    [values].flat().map((value) => [header, String(value)] as const),
  );
  const body = await readFile(path.replace(/\.exchange\.json$/, '.json'));
  return [
    signedMessage(`${name}, request`, sent, Buffer.from(String(request.body))),
    signedMessage(`${name}, answer`, received, body),
  ];
}
