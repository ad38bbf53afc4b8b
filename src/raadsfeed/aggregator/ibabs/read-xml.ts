import sax from 'sax';
import { eventLoopBudget } from '../../../lib/scheduling.ts';
import { SupplierError } from '../supplier/supplier-client.ts';

/** `name` is the local part: namespaces are ignored. */
export interface XmlElement {
  readonly name: string;
  readonly children: readonly XmlElement[];
  readonly text: string;
  readonly isNil: boolean;
}

type OpenElement = { -readonly [K in keyof XmlElement]: XmlElement[K] } & { readonly children: XmlElement[] };

const MAX_DEPTH = 50;
/** Each takes more memory than its text. A quarter of the largest organisation has a third of it. */
const MAX_ELEMENTS = 300_000;
const MAX_ATTRIBUTES = 100;
const SLICE = 16_384;

/** Parses in slices of a few milliseconds. A document type is refused, and so are entities of its own. @throws {SupplierError} */
export async function readXml(text: string): Promise<XmlElement> {
  const refuse = (why: string, cause?: unknown): never => {
    throw new SupplierError('unreadable', why, { cause });
  };
  const parser = sax.parser(true);
  const document: OpenElement = { name: '', children: [], text: '', isNil: false };
  const open = [document];
  let elements = 0;
  let attributesOfElement = 0;
  parser.onerror = (cause) => refuse(`not XML: ${cause.message.split('\n', 1)[0]?.slice(0, 100)}`, cause);
  parser.ondoctype = () => refuse('XML with a document type is not read');
  parser.onopentagstart = () => {
    attributesOfElement = 0;
  };
  parser.onattribute = () => {
    attributesOfElement += 1;
    if (attributesOfElement > MAX_ATTRIBUTES) {
      refuse(`XML has an element with more than ${MAX_ATTRIBUTES} attributes`);
    }
  };
  parser.onopentag = ({ name, attributes }) => {
    if (open.length > MAX_DEPTH) refuse(`XML is nested deeper than ${MAX_DEPTH}`);
    elements += 1;
    if (elements > MAX_ELEMENTS) refuse(`XML has more than ${MAX_ELEMENTS} elements`);
    const nil = Object.entries(attributes).find(([attribute]) => localName(attribute) === 'nil')?.[1];
    open.push({ name: localName(name), children: [], text: '', isNil: nil === 'true' || nil === '1' });
  };
  parser.onclosetag = () => {
    const element = open.pop();
    if (element !== undefined) open.at(-1)?.children.push(element);
  };
  const addText = (more: string): void => {
    const element = open.at(-1);
    if (element !== undefined) element.text += more;
  };
  parser.ontext = addText;
  parser.oncdata = addText;
  for (let from = text.startsWith('\uFEFF') ? 1 : 0; from < text.length; from += SLICE) {
    if (eventLoopBudget.exhausted()) await eventLoopBudget.yield();
    parser.write(text.slice(from, from + SLICE));
  }
  parser.close();
  return document.children[0] ?? refuse('not XML: it has no element');
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}
