/** JSON texts that take many times their size in memory once parsed. */

/** The repeated part; the text around it makes it valid. */
const PARTS = {
  'nested lists': { open: '', part: '[', middle: '', close: ']' },
  'nested objects': { open: '', part: '{"a":', middle: '1', close: '}' },
  'a list of lists': { open: '[', part: '[],', middle: '[]]', close: '' },
  'a list of objects': { open: '[', part: '{"a":1},', middle: '{}]', close: '' },
} as const;

export type HostileShape = keyof typeof PARTS;

export const HOSTILE_SHAPES: readonly HostileShape[] = [
  'nested lists',
  'nested objects',
  'a list of lists',
  'a list of objects',
];

/** A valid JSON text of this shape and about this many bytes. */
export function hostileJson(shape: HostileShape, bytes: number): Buffer {
  const { open, part, middle, close } = PARTS[shape];
  const count = Math.floor((bytes - open.length - middle.length) / (part.length + close.length));
  return Buffer.concat([
    Buffer.from(open),
    Buffer.alloc(part.length * count, part),
    Buffer.from(middle),
    Buffer.alloc(close.length * count, close === '' ? undefined : close),
  ]);
}
