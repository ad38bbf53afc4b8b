import { describe, expect, it } from 'vitest';
import { arrayOf, withArrays } from '../../../src/kernel/database/transaction.ts';

const words = ['een', null, 'drie'];

describe('parameters in memory that is used again', () => {
  it('are those that memory of their own would have', async () => {
    for (let i = 0; i < 3; i += 1) {
      const same = await withArrays(async (arrays) => [
        arrays.text(words).equals(arrayOf.text(words)),
        arrays.integer([i]).equals(arrayOf.integer([i])),
      ]);
      expect(same).toEqual([true, true]);
    }
  });

  it('leave nothing behind, and make room for the next', async () => {
    const first = await withArrays(async (arrays) => arrays.text(words));
    expect(first.every((byte) => byte === 0)).toBe(true);
    const second = await withArrays(async (arrays) => arrays.text(words));
    expect(second.buffer).toBe(first.buffer);
    expect(second.byteOffset).toBe(first.byteOffset);
  });

  it('never share it while they are in use', async () => {
    const both = ['a', 'b'].map((letter) =>
      withArrays(async (arrays) => {
        const parameters = [arrays.text([letter]), arrays.text([letter, letter])];
        await new Promise((resolve) => setImmediate(resolve));
        return parameters.map((parameter) => parameter.toString('latin1').replaceAll(/[^ab]/g, ''));
      }),
    );
    expect(await Promise.all(both)).toEqual([
      ['a', 'aa'],
      ['b', 'bb'],
    ]);
  });

  it('keep it when their statement failed: it may still be sent', async () => {
    let kept: Buffer = Buffer.alloc(0);
    const failed = withArrays(async (arrays) => {
      kept = arrays.text(words);
      throw new Error('silent');
    });
    await expect(failed).rejects.toThrow('silent');
    const next = await withArrays(async (arrays) => arrays.text(words));
    expect(next.buffer).not.toBe(kept.buffer);
    expect(kept.equals(arrayOf.text(words))).toBe(true);
  });

  it.each([200_000, 2_000_000])('may be larger than it: %d letters', async (length) => {
    const large = ['x'.repeat(length), 'y'];
    for (let i = 0; i < 2; i += 1) {
      const same = await withArrays(async (arrays) => [
        arrays.text(large).equals(arrayOf.text(large)),
        arrays.text(words).equals(arrayOf.text(words)),
      ]);
      expect(same).toEqual([true, true]);
    }
  });
});
