/** RFC 9116, as the finder of a vulnerability would use it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/settings/read-config.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { ask } from './support/ask.ts';
import { createProbe } from './support/probe-area.ts';

const CONTACT = 'Contact: mailto:security@koppelvlak.example\r\n';
const COMPLETE = `${CONTACT}Contact: https://koppelvlak.example/report\r\nExpires: 2036-12-31T22:59:59Z\r\nPreferred-Languages: nl, en\r\n`;
const PATH = '/.well-known/security.txt';

const dir = mkdtempSync(join(tmpdir(), 'security-txt-'));
afterAll(() => rmSync(dir, { recursive: true }));
let server: TestServer | undefined;
afterEach(() => server?.stop());

function fileWith(text: string): Record<string, string> {
  const path = join(dir, 'security.txt');
  writeFileSync(path, text);
  return { SECURITY_TXT: path };
}

async function get(env: Readonly<Record<string, string>>): Promise<Awaited<ReturnType<typeof ask>>> {
  server = await startServer({ env, register: createProbe().open });
  return ask(server.url + PATH);
}

describe('security.txt', () => {
  it('is 404 when the operator has no file', async () => {
    const reply = await get({});
    expect(reply.status).toBe(404);
    expect(reply.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
  });

  it("is the operator's file unchanged", async () => {
    const reply = await get(fileWith(COMPLETE));
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(reply.text).toBe(COMPLETE);
  });

  it('is reloaded when it changes', async () => {
    await get(fileWith(COMPLETE));
    const renewed = COMPLETE.replace('2036', '2037');
    fileWith(renewed);
    expect((await ask(`${server?.url}${PATH}`)).text).toBe(renewed);
  });

  it('is 404 once it has expired', async () => {
    expect((await get(fileWith(`${CONTACT}Expires: 2020-01-01T00:00:00Z\r\n`))).status).toBe(404);
  });

  it('answers 405 to another method', async () => {
    await get(fileWith(COMPLETE));
    expect((await ask(`${server?.url}${PATH}`, { method: 'DELETE' })).status).toBe(405);
  });
});

describe('its setting', () => {
  const faults = (env: Readonly<Record<string, string>>): string => {
    try {
      readConfig({ AREAS: 'raadsfeed', ...env }, 'serve');
      return '';
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  };

  it('accepts a file with contacts and an expiry', () => {
    expect(faults(fileWith(COMPLETE))).toBe('');
    expect(faults({ SECURITY_TXT: join(dir, 'none') })).toMatch(/SECURITY_TXT names no readable file/);
  });
});
