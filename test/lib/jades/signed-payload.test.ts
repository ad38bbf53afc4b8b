import { describe, expect, it } from 'vitest';
import {
  checkDigest,
  digestInPieces,
  digestOf,
  type HeaderValues,
  parseDigest,
} from '../../../src/lib/jades/signature.ts';

const body = Buffer.from('{"hello": "world"}');
// The digest of this body in the examples of RFC 9530 appendix B and earlier drafts.
const value = 'X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=';

describe('the Digest header', () => {
  it('has the value of the published example', () => {
    expect(digestOf(body)).toBe(`SHA-256=${value}`);
  });

  it('has the same value for pieces as for the whole', async () => {
    expect(await digestInPieces([...body].map((byte) => Uint8Array.of(byte)))).toBe(digestOf(body));
  });

  it.each<[string, HeaderValues]>([
    ['one algorithm', `SHA-256=${value}`],
    ['a list with one value', [`SHA-256=${value}`]],
    ['without padding', `SHA-256=${value.slice(0, -1)}`],
    [
      'among other algorithms (RFC 3230 section 4.3.2)',
      `SHA=thvDyvhfIqlvFe+A9MYgxAfm1q5=,unixsum=30637, SHA-256=${value}`,
    ],
    ['before another algorithm', `SHA-256=${value},SHA-512=AA==`],
  ])('accepts %s', (_case, values) => {
    const header = parseDigest(values);
    expect(() => checkDigest(header, digestOf(body))).not.toThrow();
  });

  it('returns the value as sent', () => {
    expect(parseDigest(`MD5=AA==, SHA-256=${value}`).sent).toBe(`MD5=AA==, SHA-256=${value}`);
  });

  it.each<[string, HeaderValues, string]>([
    ['no header', undefined, 'digest-missing'],
    ['an empty list', [], 'digest-missing'],
    ['an empty header', '', 'digest-missing'],
    ['only another algorithm', 'SHA-512=AA==', 'digest-missing'],
    ['the header twice', [`SHA-256=${value}`, `SHA-256=${value}`], 'digest-mismatch'],
    ['SHA-256 twice', `SHA-256=${value},SHA-256=${value}`, 'digest-mismatch'],
    ['SHA-256 twice in another case', `SHA-256=${value},sha-256=${value}`, 'digest-mismatch'],
    ['the name in another case', `sha-256=${value}`, 'digest-mismatch'],
    ['a value that is too short', 'SHA-256=AAAA', 'digest-mismatch'],
    ['a value that is too long', `SHA-256=${value}A`, 'digest-mismatch'],
    ['base64url', `SHA-256=${'_'.repeat(43)}`, 'digest-mismatch'],
    ['no value', 'SHA-256', 'digest-mismatch'],
    ['an empty element', `SHA-256=${value},`, 'digest-mismatch'],
    ['a space inside', `SHA-256 =${value}`, 'digest-mismatch'],
  ])('refuses %s', (_case, values, code) => {
    expect(() => parseDigest(values)).toThrow(expect.objectContaining({ code }));
  });

  it.each([
    ['another digest', `SHA-256=${'A'.repeat(43)}=`],
    ['the same bytes spelled differently', `SHA-256=${value.slice(0, -2)}F=`],
    ['padding in the middle', `SHA-256==${value.slice(0, -1)}`],
  ])('refuses %s', (_case, header) => {
    expect(() => checkDigest(parseDigest(header), digestOf(body))).toThrow(
      expect.objectContaining({ code: 'digest-mismatch' }),
    );
  });
});
