/** The description of an interface: a page, and Swagger UI behind it, each with its own policy and nothing else on its path. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, sendRaw } from '../../plugins/support/ask.ts';
import { startServer, type TestServer } from '../../support/server.ts';

const FEED = '/ori/v1';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ env: { AREAS: 'raadsfeed', RAADSFEED_RATE_LIMIT: '0' } });
});
afterAll(() => server.stop());

/** One request exactly as written, without a client that normalises it. */
async function raw(target: string): Promise<{ status: number; text: string }> {
  const text = await sendRaw(server.url, `GET ${target} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`);
  return { status: Number(text.slice(9, 12)), text };
}

it.each(['/docs', '/docs/swagger'])('is readable at %s within its own policy', async (path) => {
  const address = `${server.url}${FEED}${path}`;
  const page = await ask(address);
  expect([page.status, page.headers.get('content-type')]).toEqual([200, expect.stringMatching(/^text\/html/)]);
  const policy = page.headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain('unsafe-inline');
  const parts = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, part]) => new URL(String(part), address));
  const ours = parts.filter(({ origin }) => origin === server.url);
  expect(ours.length).toBeGreaterThan(3);
  // Nothing is loaded from elsewhere; the contract may contain links.
  if (path !== '/docs') expect(ours).toEqual(parts);
  for (const part of new Set(ours.map(({ origin, pathname }) => origin + pathname))) {
    const reply = await ask(part);
    expect(reply.status, part).toBe(200);
    expect(reply.headers.get('x-content-type-options'), part).toBe('nosniff');
  }
  expect(page.text, 'the policy allows no script in the page itself').not.toMatch(/<script(?![^>]*\ssrc=)/);
});

it('words limits for people', async () => {
  const { text } = await ask(`${server.url}${FEED}/docs`);
  expect(text).toContain('hoogstens <code>4096</code> tekens');
});

describe('Swagger UI', () => {
  const DOCS = [`${FEED}/docs/swagger`];
  const paths = [
    '/static/../../databank',
    '/static/../../../../etc/passwd',
    '/static/..%2f..%2fpackage.json',
    '/static/%2e%2e/%2e%2e/package.json',
    '/static/%2e%2e%2fpackage.json',
    '/static/..%5c..%5cpackage.json',
    '/static/..\\..\\package.json',
    '/static/%252e%252e/package.json',
    '/static/./index.css',
    '/static//index.css',
    '/static/theme/../index.css',
    '/static/%00',
    '/static/index.css%00.png',
    '/static/.env',
    '/static/',
    '/static',
    '/static/theme',
    '/static/nergens.js',
    '/../openapi.json',
    '/',
    '/yaml',
  ];
  it.each(DOCS.flatMap((docs) => paths.map((path) => docs + path)))('answer 404 to %s', async (target) => {
    const { status, text } = await raw(target);
    expect(status).toBe(404);
    expect(text).toContain('/problems/not-found');
  });

  it.each(DOCS)('answer 400 to bad encoding, and other requests normally: %s', async (docs) => {
    expect((await raw(`${docs}/static/%zz`)).status).toBe(400);
    for (const path of ['', '?a=..', '/json', '/static/swagger-ui.css', '/static/theme/theme.css']) {
      expect((await raw(docs + path)).status, path).toBe(200);
    }
  });

  it('serve the same contract as openapi.json', async () => {
    const [one, other] = await Promise.all(
      ['/openapi.json', '/docs/swagger/json'].map((path) => ask(server.url + FEED + path)),
    );
    expect(other?.body).toEqual(one?.body);
  });
});
