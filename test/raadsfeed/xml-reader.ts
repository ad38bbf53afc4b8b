/** Reads small XML strictly, with an independent parser. */
import sax from 'sax';

export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: XmlElement[];
  text: string;
}

/** @throws {Error} when the text is not well-formed XML */
export function readXml(text: string): XmlElement {
  const root: XmlElement = { name: '', attributes: {}, children: [], text: '' };
  const open = [root];
  const parser = sax.parser(true);
  parser.onerror = (error) => {
    throw error;
  };
  parser.onopentag = ({ name, attributes }) => {
    const values = Object.entries(attributes).map(([attribute, value]) => [attribute, String(value)]);
    const element: XmlElement = { name, attributes: Object.fromEntries(values), children: [], text: '' };
    open.at(-1)?.children.push(element);
    open.push(element);
  };
  parser.ontext = (part) => {
    const element = open.at(-1);
    if (element !== undefined) element.text += part;
  };
  parser.onclosetag = () => void open.pop();
  parser.write(text).close();
  const [top] = root.children;
  if (top === undefined) throw new Error('the XML has no element');
  return top;
}
