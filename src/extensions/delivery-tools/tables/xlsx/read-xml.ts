import { StringDecoder } from 'node:string_decoder';
import sax from 'sax';
import { UnreadableTable } from '../table-faults.ts';

export interface XmlHandler {
  /** @param name without its prefix */
  open?(name: string, attributes: Readonly<Record<string, string>>): void;
  close?(name: string): void;
  /** Text comes in parts. */
  text?(text: string): void;
}

/** Deeper than any part of a workbook. */
const MAX_DEPTH = 64;
/** Between two tags or texts; one tag with all of its attributes is never longer. */
const MAX_TOKEN = 1024 * 1024;
const PIECE = 64 * 1024;

/**
 * Reads XML as its bytes come in.
 * @returns after each chunk, so that what was found can be handed on
 * @throws {UnreadableTable} when it is not well-formed, has a document type, or has parts of unreasonable size
 */
export async function* readXml(
  source: AsyncIterable<Buffer>,
  name: string,
  handler: XmlHandler,
): AsyncGenerator<undefined> {
  const parser = new sax.SAXParser(true, { position: false });
  let depth = 0;
  let since = 0;
  let problem: string | undefined;
  parser.onopentag = ({ name: tag, attributes }: sax.Tag | { name: string; attributes: object }) => {
    depth += 1;
    since = 0;
    if (depth > MAX_DEPTH) problem ??= 'is nested too deeply';
    const texts: Record<string, string> = {};
    for (const [attribute, value] of Object.entries(attributes)) {
      if (typeof value === 'string') texts[localName(attribute)] = value;
    }
    handler.open?.(localName(tag), texts);
  };
  parser.onclosetag = (tag) => {
    depth -= 1;
    since = 0;
    handler.close?.(localName(tag));
  };
  const text = (part: string): void => {
    since = 0;
    handler.text?.(part);
  };
  parser.ontext = text;
  parser.oncdata = text;
  parser.ondoctype = () => {
    problem ??= 'has a document type, which no workbook has';
  };
  parser.onerror = () => {
    problem ??= 'is not well-formed XML';
  };
  const decoder = new StringDecoder('utf8');
  const write = (decoded: string): void => {
    for (let at = 0; at < decoded.length && problem === undefined; at += PIECE) {
      const piece = decoded.slice(at, at + PIECE);
      since += piece.length;
      parser.write(piece);
      if (since > MAX_TOKEN) problem ??= `has a tag or text of more than ${MAX_TOKEN} characters`;
    }
    if (problem !== undefined) throw new UnreadableTable(`part ${name} of the XLSX file ${problem}`);
  };
  for await (const chunk of source) {
    write(decoder.write(chunk));
    yield;
  }
  parser.close();
  write(decoder.end());
}

/** Reads all of it, for parts that are small. */
export async function readWholeXml(source: AsyncIterable<Buffer>, name: string, handler: XmlHandler): Promise<void> {
  for await (const _ of readXml(source, name, handler));
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}
