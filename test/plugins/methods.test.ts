import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer, type TestServer } from '../support/server.ts';
import { ask, post } from './support/ask.ts';
import { createProbe, OPEN } from './support/probe-area.ts';

let server: TestServer;
let at: (path: string) => string;

beforeAll(async () => {
  server = await startServer({ env: {}, register: createProbe().open });
  at = (path) => server.url + path;
});
afterAll(() => server.stop());

describe('an unknown address', () => {
  it.each(['/', '/nergens', `${OPEN}/nergens`, `${OPEN}/dingen/1/2`])('gets 404 on %s', async (path) => {
    const reply = await ask(at(path));
    expect(reply.status).toBe(404);
    expect(reply.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    expect(reply.body).toMatchObject({ type: `${server.url}/problems/not-found`, status: 404, title: 'Niet gevonden' });
  });

  it('gets 404 on a known path with a trailing slash', async () => {
    expect((await ask(at(`${OPEN}/databank`))).status).toBe(200);
    expect((await ask(at(`${OPEN}/databank/`))).status).toBe(404);
  });

  it('gets 404 on a parameter longer than the router accepts', async () => {
    expect((await ask(at(`${OPEN}/dingen/${'a'.repeat(7000)}`))).status).toBe(404);
  });

  it('gets 400 on a badly encoded address', async () => {
    const reply = await ask(at(`${OPEN}/dingen/%zz`));
    expect(reply.status).toBe(400);
    expect(reply.body).toMatchObject({
      type: `${server.url}/problems/invalid-request`,
      detail: 'Het adres is niet goed gecodeerd.',
    });
    expect(reply.headers.get('strict-transport-security')).not.toBeNull();
  });
});

describe('another method on a known address', () => {
  it.each([
    ['DELETE', '/dingen/1', 'GET, HEAD, OPTIONS'],
    ['PUT', '/dingen', 'POST'],
    ['GET', '/dingen', 'POST'],
    ['PATCH', '/dingen?x=1', 'POST'],
  ])('gets 405 to %s %s with the allowed methods', async (method, path, allow) => {
    const reply = await ask(at(OPEN + path), { method });
    expect(reply.status).toBe(405);
    expect(reply.headers.get('allow')).toBe(allow);
    expect(reply.body).toMatchObject({ status: 405, type: `${server.url}/problems/method-not-allowed` });
  });

  it('gets 405 for an unknown method, with or without a body', async () => {
    expect((await ask(at(`${OPEN}/dingen/1`), { method: 'QUERY' })).status).toBe(405);
    expect((await ask(at(`${OPEN}/dingen/1`), { ...post('{'), method: 'QUERY' })).status).toBe(405);
    expect((await ask(at(`${OPEN}/nergens`), { method: 'QUERY' })).status).toBe(404);
  });

  it.each([
    ['not well encoded', '%zz', 400],
    ['longer than the router reads', 'a'.repeat(7000), 404],
  ])('refuses an unknown method when a parameter is %s', async (_fault, parameter, status) => {
    expect((await ask(at(`${OPEN}/dingen/${parameter}`), { method: 'QUERY' })).status).toBe(status);
  });

  it('decodes a path before it looks up its methods', async () => {
    const reply = await ask(at(`${OPEN}/d%69ngen/een%2Ftwee`), { method: 'DELETE' });
    expect(reply.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  });

  it('gets 405 even when the body has an unsupported type', async () => {
    const reply = await ask(at(`${OPEN}/dingen/1`), post('a,b', 'text/csv'));
    expect(reply.status).toBe(405);
  });

  it('gets 405 even for methods that Node supports and HTTP servers seldom see', async () => {
    const reply = await ask(at(`${OPEN}/dingen`), { method: 'PROPFIND' });
    expect(reply.status).toBe(405);
    expect(reply.headers.get('allow')).toBe('POST');
  });
});

describe('HEAD and OPTIONS', () => {
  it('answers HEAD wherever there is GET, with the headers and without the body', async () => {
    const get = await ask(at(`${OPEN}/dingen/1`));
    const head = await ask(at(`${OPEN}/dingen/1`), { method: 'HEAD' });
    expect(head.status).toBe(200);
    expect(head.text).toBe('');
    for (const name of ['content-type', 'content-length', 'api-version']) {
      expect(head.headers.get(name), name).toBe(get.headers.get(name));
    }
  });

  it('refuses HEAD where it refuses GET', async () => {
    for (const query of ['limit=0', 'limit=1&limit=2', 'constructor=1', '__proto__=1', 'hasOwnProperty=1&toString=2']) {
      const get = await ask(at(`${OPEN}/dingen/1?${query}`));
      const head = await ask(at(`${OPEN}/dingen/1?${query}`), { method: 'HEAD' });
      expect([get.status, head.status], query).toEqual([400, 400]);
      expect(head.text).toBe('');
    }
  });

  it('answers OPTIONS wherever there is GET with 204 and the allowed methods', async () => {
    const reply = await ask(at(`${OPEN}/dingen/1`), { method: 'OPTIONS' });
    expect(reply.status).toBe(204);
    expect(reply.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  });

  it('answers a preflight of a browser on a public mount', async () => {
    const reply = await ask(at(`${OPEN}/dingen/1`), {
      method: 'OPTIONS',
      headers: { origin: 'https://elders.example', 'access-control-request-method': 'GET' },
    });
    expect(reply.status).toBe(204);
    expect(reply.headers.get('access-control-allow-origin')).toBe('*');
    expect(reply.headers.get('access-control-allow-methods')).toContain('GET');
  });

  it('answers 404 to OPTIONS on an unknown address', async () => {
    expect((await ask(at('/nergens'), { method: 'OPTIONS' })).status).toBe(404);
  });
});
