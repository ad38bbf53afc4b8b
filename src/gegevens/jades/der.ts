// A reader of DER that touches only headers: lists of a hundred thousand entries are walked without building them.
// @see ITU-T X.690 section 8.1

export interface Element {
  readonly tag: number;
  /** Where the header begins, the contents begin, and the element ends. */
  readonly start: number;
  readonly from: number;
  readonly end: number;
}

/** @throws Error when there is no definite-length element within the limit */
export function readElement(bytes: Uint8Array, start: number, limit: number): Element {
  const tag = bytes[start];
  const first = bytes[start + 1];
  if (tag === undefined || first === undefined || start + 2 > limit) throw new Error('DER ends too early');
  let from = start + 2;
  let length = first;
  if (first >= 0x80) {
    const size = first & 0x7f;
    if (size === 0 || size > 4 || from + size > limit) throw new Error('DER has a length that cannot be');
    length = 0;
    for (const byte of bytes.subarray(from, from + size)) length = length * 256 + byte;
    from += size;
  }
  const end = from + length;
  if (end > limit) throw new Error('DER ends too early');
  return { tag, start, from, end };
}

/** The elements inside another one, in order. */
export function* children(bytes: Uint8Array, parent: Element): Generator<Element> {
  for (let at = parent.from; at < parent.end; ) {
    const element = readElement(bytes, at, parent.end);
    yield element;
    at = element.end;
  }
}

/** An element of these contents. */
export function encodeElement(tag: number, contents: Uint8Array): Buffer {
  const length = contents.length;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), contents]);
  const digits = Buffer.from(
    length.toString(16).padStart(length.toString(16).length + (length.toString(16).length % 2), '0'),
    'hex',
  );
  return Buffer.concat([Buffer.from([tag, 0x80 | digits.length]), digits, contents]);
}
