import sax from 'sax';
import { eventLoopBudget } from '../../../lib/scheduling.ts';
import { SupplierError } from '../supplier/supplier-client.ts';

/** An element with the local part of its name: namespaces are not told apart. */
export interface XmlElement {
  readonly name: string;
  readonly children: readonly XmlElement[];
  /** The text directly in it. */
  readonly text: string;
  /** `xsi:nil="true"`: it has no value. */
  readonly isNil: boolean;
}

type OpenElement = { -readonly [K in keyof XmlElement]: XmlElement[K] } & { readonly children: XmlElement[] };

/** Deeper than any document has a reason to be. */
const MAX_DEPTH = 50;
/** Elements at most: each takes more memory than its text has bytes. A quarter of the largest organisation has a third of it. */
const MAX_ELEMENTS = 300_000;
/** Of one element; the service writes two. */
const MAX_ATTRIBUTES = 100;
/** Characters between looks at the clock. */
const SLICE = 16_384;

/**
 * Reads a document as a tree, a few milliseconds at a time. A document type is refused, so a document defines no entities of its own.
 * @param text of which whoever fetched it limited the size
 * @throws {SupplierError}
 */
export async function readXml(text: string): Promise<XmlElement> {
  const parser = sax.parser(true);
  const open: OpenElement[] = [];
  let root: XmlElement | undefined;
  let elements = 0;
  let attributesOfElement = 0;
  parser.onerror = (cause) => {
    const [reason = ''] = cause.message.split('\n');
    throw new SupplierError('unreadable', `not XML: ${reason.slice(0, 100)}`, { cause });
  };
  parser.ondoctype = () => {
    throw new SupplierError('unreadable', 'XML with a document type is not read');
  };
  parser.onopentagstart = () => {
    attributesOfElement = 0;
  };
  parser.onattribute = () => {
    attributesOfElement += 1;
    if (attributesOfElement > MAX_ATTRIBUTES)
      throw new SupplierError('unreadable', `XML has an element with more than ${MAX_ATTRIBUTES} attributes`);
  };
  parser.onopentag = ({ name, attributes }) => {
    if (open.length >= MAX_DEPTH) throw new SupplierError('unreadable', `XML is nested deeper than ${MAX_DEPTH}`);
    elements += 1;
    if (elements > MAX_ELEMENTS) throw new SupplierError('unreadable', `XML has more than ${MAX_ELEMENTS} elements`);
    const nil = Object.entries(attributes).find(([attribute]) => localName(attribute) === 'nil')?.[1];
    open.push({ name: localName(name), children: [], text: '', isNil: nil === 'true' || nil === '1' });
  };
  parser.onclosetag = () => {
    const element = open.pop();
    if (element === undefined) return;
    const parent = open.at(-1);
    if (parent === undefined) root = element;
    else parent.children.push(element);
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
  if (root === undefined) throw new SupplierError('unreadable', 'not XML: it has no element');
  return root;
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}
