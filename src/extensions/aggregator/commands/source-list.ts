/** Sources as an operator writes them: arguments, a JSON list, JSON lines or CSV. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { CsvError, parse } from 'csv-parse/sync';
import { CommandError, UsageError } from '../../../cli/run-command.ts';
import { isRecord } from '../../../lib/json/json-value.ts';
import { normaliseOrganisatiecode } from '../../../raadsfeed/domain/resource.ts';
import { supplierAddress } from '../source.ts';
import type { NewSource } from '../store/sources.ts';
import { readExpression } from '../supplier/body-filter.ts';
import { withoutAbsent } from '../supplier/source-adapter.ts';
import { isDay, readSourceAddress } from './on-source.ts';

const MEMBERS = [
  'adres',
  'organisaties',
  'naam',
  'portaal',
  'vanaf',
  'tot',
  'bodies',
  'notBodies',
  'documentTypes',
  'ridFile',
];

/** @throws {UsageError} naming `where` */
export function toSource(value: unknown, where: string): NewSource {
  const wrong = (fault: string): UsageError => new UsageError(`${where}: ${fault}`);
  if (!isRecord(value)) throw wrong('is not an object');
  const unknown = Object.keys(value).find((name) => !MEMBERS.includes(name));
  if (unknown !== undefined) throw wrong(`has an unknown member, ${unknown}`);
  const text = (name: string): string | undefined => {
    const found = value[name];
    if (found === undefined || (typeof found === 'string' && found.trim() !== '')) return found;
    throw wrong(`${name} is not text`);
  };
  const { organisaties = [] } = value;
  if (!Array.isArray(organisaties)) throw wrong('organisaties is not a list');
  const organisatiecodes = organisaties.map((code) => {
    const known = typeof code === 'string' ? normaliseOrganisatiecode(code) : undefined;
    if (known === undefined) throw wrong('a code is gm and 4 digits, pv and 2, or ws and 4');
    return known;
  });
  const [naam, portaal, vanaf, tot] = [text('naam'), text('portaal'), text('vanaf'), text('tot')];
  const [bodies, notBodies] = [text('bodies'), text('notBodies')];
  const [documentTypes, ridFile] = [text('documentTypes'), text('ridFile')];
  const address = readSourceAddress(text('adres') ?? '');
  const [code] = organisatiecodes;
  if (
    address.kind === 'leveranciers-api' &&
    (organisatiecodes.length !== 1 || code === undefined || naam === undefined)
  ) {
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
  for (const expression of [bodies, notBodies]) {
    try {
      if (expression !== undefined) readExpression(expression);
    } catch (error) {
      throw wrong(`--bodies: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  const { scheme, organisationId, organisatiecode, adres } = address;
  if (documentTypes !== undefined && scheme !== 'go') throw wrong('--document-types is for go:');
  if ((ridFile !== undefined) !== (scheme === 'parlaeus')) throw wrong('--rid-file is for parlaeus:, which needs it');
  if (organisatiecode !== undefined && organisatiecode !== code) throw wrong(`${adres} is not of ${code}`);
  // Several organisations may share a site: each has an address of its own.
  const isShared = bodies !== undefined || notBodies !== undefined;
  if (isShared && scheme === 'notubiz')
    throw wrong('notubiz: is read without --bodies and --not-bodies: an organisation has an id of its own');
  return {
    adres: isShared ? supplierAddress(scheme, organisationId, code) : adres,
    soort: 'leveranciers-api',
    organisatiecodes,
    naam,
    portaal,
    vanaf,
    tot,
    options: withoutAbsent({ bodies, notBodies, documentTypes, ridFile: ridFile && resolve(ridFile) }),
  };
}

const COLUMNS: Readonly<Record<string, string>> = {
  bron: 'adres',
  organisatie: 'organisaties',
  naam: 'naam',
  portaal: 'portaal',
  from: 'vanaf',
  until: 'tot',
  bodies: 'bodies',
  'not-bodies': 'notBodies',
  'document-types': 'documentTypes',
  'rid-file': 'ridFile',
};
/** Bytes of a list at most: the whole country is a hundredth of it. */
const MAX_BYTES = 10_485_760;
/** Faults of a list that are shown. */
const MAX_FAULTS = 20;

/** @throws {CommandError} naming every line that cannot be used */
export async function readSourceList(file: string): Promise<NewSource[]> {
  let content: Buffer;
  try {
    content = await readFile(file);
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (content.length > MAX_BYTES) throw new CommandError(`${file} is larger than ${MAX_BYTES} bytes`);
  const text = content.toString('utf8').replace(/^\uFEFF/, '');
  const lines = /^\s*\{/.test(text) ? jsonLines(text) : csvLines(text, file);
  const faults: string[] = [];
  const sources = lines.flatMap(({ line, value }) => {
    const where = `${file}: line ${line}`;
    try {
      return [fromRecord(value, where)];
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      faults.push(error.message.startsWith(where) ? error.message : `${where}: ${error.message}`);
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

interface ListLine {
  readonly line: number;
  /** `undefined` for a line that is not JSON. */
  readonly value: unknown;
}

function jsonLines(text: string): ListLine[] {
  return text.split(/\r?\n/).flatMap((line, i) => {
    if (line.trim() === '') return [];
    try {
      return [{ line: i + 1, value: JSON.parse(line) }];
    } catch {
      // Reported with its number, like every line that is not an object.
      return [{ line: i + 1, value: undefined }];
    }
  });
}

/** @throws {CommandError} */
function csvLines(text: string, file: string): ListLine[] {
  const [head = ''] = text.split(/\r?\n/);
  const delimiter = head.includes(';') ? ';' : ',';
  try {
    const rows: { readonly record: unknown; readonly info: { readonly lines: number } }[] = parse(text, {
      columns: true,
      info: true,
      trim: true,
      delimiter,
      skip_empty_lines: true,
    });
    return rows.map(({ record, info }) => ({ line: info.lines, value: record }));
  } catch (error) {
    if (error instanceof CsvError) throw new CommandError(`nothing was added: ${file}: ${error.message}`);
    throw error;
  }
}

function fromRecord(value: unknown, where: string): NewSource {
  if (!isRecord(value)) throw new UsageError(`${where}: is not a JSON object`);
  const unknown = Object.keys(value).find((name) => !Object.hasOwn(COLUMNS, name));
  if (unknown !== undefined) throw new UsageError(`${where}: has an unknown column, ${unknown}`);
  const members = Object.entries(value)
    .filter(([, member]) => member !== '' && member !== null)
    .map(([name, member]) => [COLUMNS[name] ?? name, name === 'organisatie' ? [member] : member]);
  return toSource(Object.fromEntries(members), where);
}
