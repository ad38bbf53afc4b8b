import { expect, it } from 'vitest';
import { withoutTls } from '../transport-security.ts';

it.each([
  'http://log.example/v1',
  'http://10.0.0.8:8080/v1',
  'http://localhost.example/v1',
  'http://mylocalhost/',
  'http://127.0.0.1.example/',
])('finds fault with %s, which is not on this machine', (address) =>
  expect(withoutTls(address)).toMatch(/http: and not https:/),
);

it.each([
  ...['http://127.0.0.1:8080/v1', 'http://localhost/v1', 'http://[::1]:8080/v1', 'http://127.8.0.1/'],
  ...['http://log.localhost:8080/', 'http://localhost./', 'http://[::ffff:127.0.0.1]/'],
])('requires nothing of %s, on this machine, and says why', (address) =>
  expect(withoutTls(address)).toEqual({ skipped: expect.stringContaining('of this machine') }),
);

it('finds no fault with https:', () => {
  expect(withoutTls('https://log.example/v1')).toBeUndefined();
  expect(withoutTls('https://127.0.0.1/v1')).toBeUndefined();
});
