import fc from 'fast-check';
import { expect, it } from 'vitest';
import { withoutNamed } from '../../../src/lib/feed/read-page.ts';

it('removes the numbers that redactions name from the gaps, and nothing else', () => {
  const gap = fc.tuple(fc.nat(40), fc.nat(12)).map(([from, length]) => ({ from, to: from + length }));
  fc.assert(
    fc.property(fc.array(gap, { maxLength: 4 }), fc.uniqueArray(fc.nat(60)), (gaps, numbers) => {
      const named = new Set(numbers);
      for (const one of gaps) {
        const left = withoutNamed([one], named).flatMap(({ from, to }) =>
          Array.from({ length: to - from + 1 }, (_, i) => from + i),
        );
        const wanted = Array.from({ length: one.to - one.from + 1 }, (_, i) => one.from + i).filter(
          (n) => !named.has(n),
        );
        expect(left).toEqual(wanted);
      }
      expect(withoutNamed(gaps, named)).toEqual(gaps.flatMap((one) => withoutNamed([one], named)));
    }),
  );
});

it('costs as much as the named numbers, not as the length of the gaps', () => {
  const gaps = Array.from({ length: 200_000 }, (_, i) => ({ from: i * 100_000 + 1, to: i * 100_000 + 99_999 }));
  const named = new Set([5, 100_005, 19_999_999_999]);
  expect(withoutNamed(gaps, named)).toHaveLength(gaps.length + 2);
});
