import { UnreadableTable } from '../table-faults.ts';
import type { XmlHandler } from './read-xml.ts';

const MAX_BYTES = 128 * 1024 * 1024;
const MAX_STRINGS = 16_000_000;
const BLOCK_BYTES = 1024 * 1024;

/** The texts that the cells of a workbook share, as bytes: millions of strings would take four times the memory. */
export class SharedStrings {
  readonly #blocks: Buffer[] = [];
  #used = BLOCK_BYTES;
  #bytes = 0;
  /** By string: its block, and where in it the string begins and ends. */
  #places = new Uint32Array(3 * 1024);
  #count = 0;

  /** @throws {UnreadableTable} when there are more than is reasonable */
  add(text: string): void {
    const bytes = Buffer.byteLength(text);
    this.#bytes += bytes;
    if (this.#bytes > MAX_BYTES || this.#count >= MAX_STRINGS) {
      throw new UnreadableTable(`the workbook has more than ${MAX_BYTES} bytes of text: save its sheets as CSV`);
    }
    if (this.#used + bytes > BLOCK_BYTES) {
      this.#blocks.push(Buffer.allocUnsafeSlow(Math.max(BLOCK_BYTES, bytes)));
      this.#used = 0;
    }
    if (3 * this.#count === this.#places.length) {
      const grown = new Uint32Array(this.#places.length * 2);
      grown.set(this.#places);
      this.#places = grown;
    }
    this.#blocks.at(-1)?.write(text, this.#used);
    this.#places.set([this.#blocks.length - 1, this.#used, this.#used + bytes], 3 * this.#count);
    // A string larger than a block has one to itself.
    this.#used = Math.min(this.#used + bytes, BLOCK_BYTES);
    this.#count += 1;
  }

  get(index: number): string | undefined {
    if (!Number.isInteger(index) || index < 0 || index >= this.#count) return undefined;
    const [block = 0, start, end] = this.#places.subarray(3 * index, 3 * index + 3);
    return this.#blocks[block]?.toString('utf8', start, end);
  }
}

/** Collects the text of `si` or `is` elements: all `t` in it, but for how it is pronounced. */
export class TextCollector {
  #text = '';
  #inText = false;
  #phonetic = 0;

  start(): void {
    this.#text = '';
  }

  open(name: string): void {
    if (name === 'rPh') this.#phonetic += 1;
    this.#inText = name === 't' && this.#phonetic === 0;
  }

  close(name: string): void {
    if (name === 'rPh') this.#phonetic -= 1;
    if (name === 't') this.#inText = false;
  }

  text(part: string): void {
    if (!this.#inText) return;
    this.#text += part;
    if (this.#text.length > MAX_TEXT) throw new UnreadableTable(`a text of more than ${MAX_TEXT} characters`);
  }

  finish(): string {
    return unescapeText(this.#text);
  }
}

/** More than a spreadsheet allows in a cell, with each character escaped. */
const MAX_TEXT = 256 * 1024;

/** `_x000D_` stands for a character that XML cannot hold. */
export function unescapeText(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replaceAll(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

export function sharedStringsHandler(strings: SharedStrings): XmlHandler {
  const collector = new TextCollector();
  return {
    open: (name) => {
      if (name === 'si') collector.start();
      else collector.open(name);
    },
    close: (name) => {
      if (name === 'si') strings.add(collector.finish());
      else collector.close(name);
    },
    text: (part) => collector.text(part),
  };
}
