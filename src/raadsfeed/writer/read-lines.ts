/** Longest line that is read, in bytes. */
export const MAX_LINE_BYTES = 4 * 1024 * 1024;

const NEWLINE = 0x0a;
const BOM = '\uFEFF';

/** One line of an NDJSON file; `text` is absent when it cannot be read, and `fault` says why. */
export type Line = { readonly number: number } & ({ readonly text: string } | { readonly fault: string });

/** The lines that have something on them, each decoded strictly. Holds no more than one chunk and one line. */
export async function* readLines(source: AsyncIterable<Uint8Array>): AsyncGenerator<Line[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let number = 0;
  let begun: Uint8Array[] = [];
  let begunBytes = 0;
  const finish = (last: Uint8Array): Line | undefined => {
    number += 1;
    const bytes = begun.length === 0 ? last : Buffer.concat([...begun, last]);
    const tooLong = begunBytes + last.length > MAX_LINE_BYTES;
    begun = [];
    begunBytes = 0;
    if (tooLong) return { number, fault: `is longer than ${MAX_LINE_BYTES} bytes` };
    try {
      const decoded = decoder.decode(bytes);
      const text = number === 1 && decoded.startsWith(BOM) ? decoded.slice(1) : decoded;
      return text.trim() === '' ? undefined : { number, text };
    } catch {
      return { number, fault: 'is not UTF-8' };
    }
  };
  for await (const chunk of source) {
    const lines: Line[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const line = finish(chunk.subarray(start, end));
      if (line !== undefined) lines.push(line);
      start = end + 1;
    }
    const left = chunk.subarray(start);
    begunBytes += left.length;
    // Of a line that is too long only its length is kept.
    if (begunBytes <= MAX_LINE_BYTES) begun.push(Buffer.from(left));
    else begun = [];
    if (lines.length > 0) yield lines;
  }
  const line = begunBytes === 0 ? undefined : finish(new Uint8Array());
  if (line !== undefined) yield [line];
}
