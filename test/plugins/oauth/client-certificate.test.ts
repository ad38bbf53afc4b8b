import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { clientCertificateThumbprint } from '../../../src/plugins/oauth/token.ts';
import { ecKeys, selfSigned } from './support/certificate.ts';

const { der, certificate } = await selfSigned(ecKeys());
const encoded = der.toString('base64');

describe('a client certificate header', () => {
  it('gives the thumbprint of its certificate', () => {
    expect(clientCertificateThumbprint(`:${encoded}:`)).toBe(hash('sha256', der, 'base64url'));
  });

  it.each([
    ['empty', ''],
    ['an empty byte sequence', '::'],
    ['a bare colon', ':'],
    ['without its colons', encoded],
    ['with one colon', `:${encoded}`],
    ['PEM text', certificate.replaceAll('\n', '%0A')],
    ['PEM text in a byte sequence', `:${Buffer.from(certificate).toString('base64')}:`],
    ['with other characters inside', `:${encoded.slice(0, 40)}\n${encoded.slice(40)}:`],
    ['base64url', `:${der.toString('base64url').replace(/[A-Z]/, '_')}:`],
    ['cut off', `:${der.subarray(0, -10).toString('base64')}:`],
    ['followed by more bytes', `:${Buffer.concat([der, Buffer.from([0])]).toString('base64')}:`],
    ['two certificates', `:${encoded}:, :${encoded}:`],
    ['with parameters', `:${encoded}:;a=1`],
    ['no certificate', `:${Buffer.from('certificate').toString('base64')}:`],
    ['far too large', `:${'A'.repeat(100_000)}:`],
  ])('is refused when it is %s', (_name, header) => {
    expect(() => clientCertificateThumbprint(header)).toThrow('client-certificate-malformed');
  });
});
