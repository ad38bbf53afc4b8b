/** Sources as an operator writes them: arguments, JSON lines or CSV. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { CsvError, parse } from 'csv-parse/sync';
import { CommandError, UsageError } from '../../../lib/command-error.ts';
import { normaliseOrganisatiecode } from '../../../lib/feed/resource.ts';
import { isRecord } from '../../../lib/json/json-value.ts';
import { parseIfJson } from '../../../lib/json/parse-untrusted.ts';
import { decodeUtf8, EncodingError } from '../../../lib/text-file.ts';
import type { NewSource } from '../plan-sources.ts';
import { hasOwnNumbers, supplierAddress } from '../source.ts';
import { readExpression } from '../supplier/body-filter.ts';
import { withoutAbsent } from '../supplier/source-adapter.ts';
import { isDay, readSourceAddress } from './on-source.ts';

export type SourceFields = { readonly organisaties?: readonly string[] | undefined } & {
  readonly [K in 'adres' | 'naam' | 'portaal' | 'vanaf' | 'tot' | OptionName]?: string | undefined;
};
export type OptionName = 'bodies' | 'notBodies' | 'documentTypes' | 'ridFile' | 'replaces';

/** @param where it is written, in a list. @throws {UsageError} naming `where` */
export function toSource({ organisaties = [], ...fields }: SourceFields, where?: string): NewSource {
  const wrong = (fault: string): UsageError => new UsageError(`${where ?? 'the source'}: ${fault}`);
  const { naam, portaal, vanaf, tot, bodies, notBodies, documentTypes, ridFile, replaces } = fields;
  const organisatiecodes = organisaties.map((code) => {
    const known = normaliseOrganisatiecode(code);
    if (known === undefined) throw wrong('a code is gm and 4 digits, pv and 2, or ws and 4');
    return known;
  });
  const address = readSourceAddress(fields.adres ?? '', where);
  const [code] = organisatiecodes;
  const isNamed = organisatiecodes.length === 1 && naam !== undefined;
  if (address.kind === 'leveranciers-api' && !isNamed) {
    throw wrong("a supplier's API is read for one organisation: give one code and its name");
  }
  if (portaal !== undefined && !/^https?:\/\/[^\s]+$/.test(portaal)) throw wrong('the portal is not an address');
  if (vanaf !== undefined && !isDay(vanaf)) throw wrong('the first day is not a date (YYYY-MM-DD)');
  if (tot !== undefined && !isDay(tot)) throw wrong('the last day is not a date (YYYY-MM-DD)');
  if (address.kind === 'feed') {
    if (tot !== undefined || bodies !== undefined || notBodies !== undefined) {
      throw wrong('--until, --bodies and --not-bodies are for suppliers: a feed is followed as it is');
    }
    return { adres: address.adres, soort: 'feed', organisatiecodes, naam, portaal, vanaf };
  }
  try {
    for (const expression of [bodies, notBodies]) if (expression !== undefined) readExpression(expression);
  } catch (error) {
    throw wrong(`--bodies: ${error instanceof Error ? error.message : String(error)}`);
  }
  const { scheme, organisationId, organisatiecode, adres, corrected } = address;
  if (replaces !== undefined && !hasOwnNumbers(scheme)) throw wrong('--replaces is for go: and parlaeus:');
  if (documentTypes !== undefined && scheme !== 'go') throw wrong('--document-types is for go:');
  const limits = [bodies, notBodies, vanaf, tot];
  if (documentTypes !== undefined && limits.some((limit) => limit !== undefined)) {
    throw wrong(
      '--document-types needs all meetings, so no --bodies, --not-bodies, --from or --until: a document on no meeting may belong to any',
    );
  }
  if ((ridFile !== undefined) !== (scheme === 'parlaeus')) throw wrong('--rid-file is for parlaeus:, which needs it');
  if (organisatiecode !== undefined && organisatiecode !== code) throw wrong(`${adres} is not of ${code}`);
  // Several organisations may share a site: each has an address of its own.
  const isShared = bodies !== undefined || notBodies !== undefined;
  if (isShared && scheme === 'notubiz')
    throw wrong('notubiz: is read without --bodies and --not-bodies: an organisation has an id of its own');
  return {
    organisatiecodes,
    naam,
    portaal,
    vanaf,
    tot,
    corrected,
    soort: 'leveranciers-api',
    adres: isShared ? supplierAddress(scheme, organisationId, code) : adres,
    options: withoutAbsent({ bodies, notBodies, documentTypes, ridFile: ridFile && resolve(ridFile) }),
    replaces: replaces && readSourceAddress(replaces, where).adres,
  };
}

const COLUMNS = new Map<string, keyof SourceFields>([
  ['bron', 'adres'],
  ['organisatie', 'organisaties'],
  ['naam', 'naam'],
  ['portaal', 'portaal'],
  ['from', 'vanaf'],
  ['until', 'tot'],
  ['bodies', 'bodies'],
  ['not-bodies', 'notBodies'],
  ['document-types', 'documentTypes'],
  ['rid-file', 'ridFile'],
  ['replaces', 'replaces'],
]);
/** A list of the whole country takes a hundredth of it. */
const MAX_BYTES = 10_485_760;
const MAX_FAULTS = 20;

/** @throws {CommandError} naming every line that cannot be used */
export async function readSourceList(file: string): Promise<NewSource[]> {
  const content = await readFile(file).catch((error: Error) => {
    throw new CommandError(`${file} cannot be read: ${error.message}`);
  });
  if (content.length > MAX_BYTES) throw new CommandError(`${file} is larger than ${MAX_BYTES} bytes`);
  const lines = readLines(content, file);
  const faults: string[] = [];
  const sources = lines.flatMap(({ line, value }) => {
    const where = `${file}: line ${line}`;
    try {
      return [fromRecord(value, where)];
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      faults.push(error.message);
      return [];
    }
  });
  if (faults.length > 0) {
    const more = faults.length > MAX_FAULTS ? `\nand ${faults.length - MAX_FAULTS} more` : '';
    throw new CommandError(`nothing was added:\n${faults.slice(0, MAX_FAULTS).join('\n')}${more}`);
  }
  if (sources.length === 0) throw new CommandError(`${file} has no sources`);
  return sources;
}

function readLines(content: Buffer, file: string): ListLine[] {
  try {
    const text = decodeUtf8(content, file);
    return /^\s*\{/.test(text) ? jsonLines(text) : csvLines(text);
  } catch (error) {
    if (error instanceof EncodingError) throw new CommandError(`nothing was added: ${error.message}`);
    if (error instanceof CsvError) throw new CommandError(`nothing was added: ${file}: ${error.message}`);
    throw error;
  }
}

interface ListLine {
  readonly line: number;
  readonly value: unknown;
}

function jsonLines(text: string): ListLine[] {
  // A line that is not JSON is reported with its number, like every line that is not an object.
  const lines = text.split(/\r?\n/).map((value, i) => ({ line: i + 1, value }));
  return lines
    .filter(({ value }) => value.trim() !== '')
    .map(({ line, value }) => ({ line, value: parseIfJson(value, { bytes: MAX_BYTES }) }));
}

function csvLines(text: string): ListLine[] {
  const [head = ''] = text.split(/\r?\n/);
  const rows: { readonly record: unknown; readonly info: { readonly lines: number } }[] = parse(text, {
    columns: true,
    info: true,
    trim: true,
    delimiter: head.includes(';') ? ';' : ',',
    skip_empty_lines: true,
  });
  return rows.map(({ record, info }) => ({ line: info.lines, value: record }));
}

function fromRecord(value: unknown, where: string): NewSource {
  if (!isRecord(value)) throw new UsageError(`${where}: is not a JSON object`);
  const members = Object.entries(value).flatMap(([column, member]) => {
    const name = COLUMNS.get(column);
    if (name === undefined) throw new UsageError(`${where}: has an unknown column, ${column}`);
    if (member === '' || member === null) return [];
    if (typeof member !== 'string' || member.trim() === '') throw new UsageError(`${where}: ${column} is not text`);
    return [[name, name === 'organisaties' ? [member] : member]];
  });
  return toSource(Object.fromEntries(members), where);
}
