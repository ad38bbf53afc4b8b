import { expect, it } from 'vitest';
import { fetchToken, sendRequest } from '../../src/gegevens/tools/requester/send-request.ts';
import { logError, reasonOf } from '../../src/lib/log.ts';
import { freePort } from '../support/free-port.ts';

const signal = new AbortController().signal;

it('follows the causes of a fetch error', async () => {
  const error: unknown = await fetch(`http://127.0.0.1:${await freePort()}`).catch((cause: unknown) => cause);
  expect(reasonOf(error)).toMatch(/^fetch failed: .*ECONNREFUSED/);
});

it('lists the error of every address of a host', () => {
  const refused = (address: string): Error =>
    Object.assign(new Error(`connect ECONNREFUSED ${address}`), { code: 'ECONNREFUSED' });
  const error = new AggregateError([refused('::1:1'), refused('127.0.0.1:1')]);
  expect(reasonOf(error)).toBe('connect ECONNREFUSED ::1:1; connect ECONNREFUSED 127.0.0.1:1');
  expect(logError(error).message).toBe(reasonOf(error));
});

it('names what is wrong with a certificate by its code', () => {
  const error = Object.assign(new Error('certificate has expired'), { code: 'CERT_HAS_EXPIRED' });
  expect(reasonOf(new TypeError('fetch failed', { cause: error }))).toBe(
    'fetch failed: certificate has expired (CERT_HAS_EXPIRED)',
  );
});

it('keeps the failure of some work when its release fails too', async () => {
  const failing = async (): Promise<void> => {
    await using opened = new AsyncDisposableStack();
    opened.defer(async () => {
      throw new Error('the database does not end');
    });
    throw new Error('port 80 is taken');
  };
  const error: unknown = await failing().catch((cause: unknown) => cause);
  expect(reasonOf(error)).toBe('port 80 is taken; the database does not end');
  expect(logError(error).message).toBe(reasonOf(error));
});

it('ends for any chain of causes', () => {
  const error = new Error('a');
  error.cause = error;
  expect(reasonOf(error).length).toBeLessThan(100);
  expect(reasonOf('text')).toBe('text');
  expect(reasonOf(new Error())).toBe('Error');
});

it('is passed on to the requester of an exchange', async () => {
  const url = `http://localhost:${await freePort()}/token`;
  const token = fetchToken({ url, clientId: 'a', clientSecret: 'geheim' });
  await expect(token).rejects.toThrow(/token endpoint http:\/\/localhost:\d+\/token cannot be reached: .*ECONNREFUSED/);
  const sent = sendRequest({
    url,
    headers: {},
    body: '{}',
    timeoutMs: 5000,
    maxBytes: 1000,
    signal,
    waiting: () => undefined,
  });
  await expect(sent).rejects.toThrow(/cannot be reached: .*ECONNREFUSED/);
});
