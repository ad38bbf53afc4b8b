/** RFC 9116, as a finder of a vulnerability would ask for it. */
import { afterEach, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/settings/read-config.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { ask } from './support/ask.ts';
import { createProbe } from './support/probe-area.ts';

const CONTACT = {
  SECURITY_CONTACT: 'mailto:security@koppelvlak.example, https://koppelvlak.example/report',
  SECURITY_EXPIRES: '2036-12-31T22:59:59Z',
};
const PATH = '/.well-known/security.txt';

let server: TestServer | undefined;
afterEach(() => server?.stop());

async function get(env: Readonly<Record<string, string>>): Promise<Awaited<ReturnType<typeof ask>>> {
  server = await startServer({ env, register: createProbe().open });
  return ask(server.url + PATH);
}

describe('security.txt', () => {
  it('is 404 when no contact is named', async () => {
    const reply = await get({});
    expect(reply.status).toBe(404);
    expect(reply.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
  });

  it('names the contacts, in their order, and when it expires', async () => {
    const reply = await get(CONTACT);
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(reply.text).toBe(
      [
        'Contact: mailto:security@koppelvlak.example',
        'Contact: https://koppelvlak.example/report',
        'Expires: 2036-12-31T22:59:59.000Z',
        '',
      ].join('\r\n'),
    );
  });

  it('has every other field that is set, and its own address when that is https', async () => {
    const reply = await get({
      ...CONTACT,
      PUBLIC_BASE_URL: 'https://koppelvlak.example',
      SECURITY_POLICY: 'https://koppelvlak.example/policy',
      SECURITY_ENCRYPTION: 'openpgp4fpr:5f2de5521c63a801ab59ccb603d49de44b29100f',
      SECURITY_ACKNOWLEDGMENTS: 'https://koppelvlak.example/thanks',
      SECURITY_LANGUAGES: 'nl,en',
    });
    expect(reply.text.split('\r\n').slice(3)).toEqual([
      'Encryption: openpgp4fpr:5f2de5521c63a801ab59ccb603d49de44b29100f',
      'Policy: https://koppelvlak.example/policy',
      'Acknowledgments: https://koppelvlak.example/thanks',
      'Preferred-Languages: nl, en',
      'Canonical: https://koppelvlak.example/.well-known/security.txt',
      '',
    ]);
  });

  it('is 404 once it has expired', async () => {
    expect((await get({ ...CONTACT, SECURITY_EXPIRES: '2020-01-01T00:00:00Z' })).status).toBe(404);
  });

  it('answers 405 to another method', async () => {
    await get(CONTACT);
    expect((await ask(`${server?.url}${PATH}`, { method: 'DELETE' })).status).toBe(405);
  });
});

describe('its settings', () => {
  const faults = (env: Readonly<Record<string, string>>): string => {
    try {
      readConfig({ AREAS: 'raadsfeed', ...env }, 'serve');
      return '';
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  };

  it('are refused without an end', () => {
    expect(faults(CONTACT)).toBe('');
    expect(faults({ SECURITY_CONTACT: CONTACT.SECURITY_CONTACT })).toMatch(/SECURITY_EXPIRES is missing/);
  });

  it.each([
    ['SECURITY_CONTACT', 'security@koppelvlak.example'],
    ['SECURITY_CONTACT', 'mailto:a@b.example\r\nContact: mailto:c@d.example'],
    ['SECURITY_EXPIRES', '2036-12-31'],
    ['SECURITY_EXPIRES', '2036-13-31T00:00:00Z'],
    ['SECURITY_POLICY', 'http://koppelvlak.example/policy'],
    ['SECURITY_POLICY', 'https://koppelvlak.example/\r\nContact: mailto:c@d.example'],
    ['SECURITY_LANGUAGES', 'Dutch and English'],
  ])('refuse %s=%j', (variable, value) => {
    expect(faults({ ...CONTACT, [variable]: value })).toMatch(new RegExp(`^ {2}${variable} `, 'm'));
  });
});
