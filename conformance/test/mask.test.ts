import { describe, expect, it } from 'vitest';
import { processorMs } from '../../test/support/processor-time.ts';
import { createMask } from '../mask.ts';

const mask = createMask(['geheim-van-de-run']);

describe('createMask', () => {
  it.each([
    ['Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln', 'Bearer (masked)'],
    ['x-eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln.', 'x-(masked).'],
    ['host.eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.', 'host.(masked)'],
    ['eyJa.b.c, eyJd.e.f', '(masked), (masked)'],
    ['eyJa.b', 'eyJa.b'],
    ['eyJa..c', 'eyJa..c'],
    ['keyJa.b.c', 'keyJa.b.c'],
    ['https://ik:wachtwoord@host.example/?token=abc&x=1', 'https://(masked)@host.example/?token=(masked)&x=1'],
    ['999990019 en 999990018', '(masked) en 999990018'],
    ['geheim-van-de-run', '(masked)'],
  ])('makes of %s', (text, masked) => {
    expect(mask(text)).toBe(masked);
  });

  it.each(['eyJ-', 'eyJa.', 'eyJ', '//', '//a', '?token=', '9', '999990019,', '.', '-', '\u202e'])(
    'reads a megabyte of %j in linear time',
    (piece) => {
      const text = piece.repeat(1_000_000 / piece.length);
      expect(processorMs(() => mask(text))).toBeLessThan(1500);
    },
  );
});
