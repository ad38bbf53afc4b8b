import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer, type TestServer } from '../support/server.ts';
import { ask, post } from './support/ask.ts';
import { CLOSED, createProbe, OPEN } from './support/probe-area.ts';

const SECURITY = [
  'strict-transport-security',
  'x-content-type-options',
  'x-frame-options',
  'content-security-policy',
  'referrer-policy',
  'cache-control',
];

let server: TestServer;

beforeAll(async () => {
  server = await startServer({ env: {}, register: createProbe().open });
});
afterAll(() => server.stop());

describe('the security headers', () => {
  it.each([
    [200, 'GET', `${OPEN}/databank`],
    [201, 'POST', `${OPEN}/dingen`],
    [200, 'GET', `${OPEN}/openapi.json`],
    [302, 'GET', `${OPEN}/docs`],
    [200, 'GET', '/problems/not-found'],
    [400, 'GET', `${OPEN}/dingen/%zz`],
    [401, 'GET', `${CLOSED}/databank`],
    [404, 'GET', '/nergens'],
    [405, 'PUT', `${OPEN}/dingen`],
    [204, 'OPTIONS', `${OPEN}/databank`],
    [500, 'GET', `${OPEN}/fout`],
  ])('are on a %i to %s %s', async (status, method, path) => {
    const reply = await ask(server.url + path, method === 'POST' ? post('{"naam":"a"}') : { method });
    expect(reply.status).toBe(status);
    for (const name of SECURITY) expect(reply.headers.get(name), name).not.toBeNull();
    expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
    expect(reply.headers.get('content-security-policy')).toContain("default-src 'none'");
    if (status >= 400) expect(reply.headers.get('cache-control')).toBe('no-store');
    expect(reply.headers.get('x-powered-by')).toBeNull();
    expect(reply.headers.get('server')).toBeNull();
  });

  it('allow scripts of other origins on a public mount, and not on a closed one', async () => {
    const headers = { origin: 'https://elders.example' };
    const open = await ask(`${server.url}${OPEN}/databank`, { headers });
    expect(open.headers.get('access-control-allow-origin')).toBe('*');
    const closed = await ask(`${server.url}${CLOSED}/databank`, { headers });
    expect(closed.headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('API-Version', () => {
  it.each([
    [200, `${OPEN}/databank`],
    [400, `${OPEN}/dingen/1?x=1`],
    [401, `${CLOSED}/databank`],
    [404, `${OPEN}/nergens`],
    [500, `${OPEN}/fout`],
  ])('names the full version on a %i', async (status, path) => {
    const reply = await ask(server.url + path);
    expect(reply.status).toBe(status);
    expect(reply.headers.get('api-version')).toBe('1.2.3');
  });
});

describe('Accept', () => {
  it.each([
    'text/html',
    'application/json;q=0',
    'application/json;q=wat',
    'image/*, text/plain',
    'application/json;q=0, */*',
  ])('is answered 406 to %s', async (accept) => {
    const reply = await ask(`${server.url}${OPEN}/databank`, { headers: { accept } });
    expect(reply.status).toBe(406);
    expect(reply.body.type).toBe(`${server.url}/problems/not-acceptable`);
  });

  it.each([
    'application/json',
    'application/json, */*;q=0',
    'application/*;q=0.5',
    'text/html, */*;q=0.1',
    'Application/JSON; charset=utf-8',
  ])('lets %s through', async (accept) => {
    expect((await ask(`${server.url}${OPEN}/databank`, { headers: { accept } })).status).toBe(200);
  });
});

describe('a problem', () => {
  it('has a page that explains it', async () => {
    const { body } = await ask(`${server.url}/nergens`);
    const page = await ask(String(body.type));
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.text).toContain('<h1>404 Niet gevonden</h1>');
    expect((await ask(`${server.url}/problems/verzonnen`)).status).toBe(404);
  });

  it('has the id of the request, the same as in the log', async () => {
    const { body } = await ask(`${server.url}${OPEN}/dingen/1?x=1`);
    const line = server.logged.find(({ reqId }) => body.instance === `urn:uuid:${reqId}`);
    expect(line).toMatchObject({ msg: 'answered', status: 400, route: `${OPEN}/dingen/:id`, method: 'GET' });
  });

  it('reveals no internal error, which the log does contain', async () => {
    const { body, text } = await ask(`${server.url}${OPEN}/fout`);
    expect(Object.keys(body).toSorted()).toEqual(['instance', 'status', 'title', 'type']);
    expect(text).not.toContain('geheim');
    const line = server.logged.find(({ reqId, level }) => body.instance === `urn:uuid:${reqId}` && level === 50);
    expect(line).toMatchObject({ msg: '500 internal', err: { message: 'relation geheim does not exist' } });
  });

  it('accepts no request id from outside', async () => {
    const headers = { 'x-request-id': 'van-mij', 'request-id': 'van-mij' };
    const { text } = await ask(`${server.url}/nergens`, { headers });
    expect(text).not.toContain('van-mij');
  });
});

describe('the contract of a mount', () => {
  it.each([OPEN, CLOSED])('is served to every origin, without a token, at %s/openapi.json', async (mount) => {
    const reply = await ask(`${server.url}${mount}/openapi.json`, { headers: { origin: 'https://elders.example' } });
    expect(reply.status).toBe(200);
    expect(reply.headers.get('access-control-allow-origin')).toBe('*');
    expect(reply.body).toMatchObject({ openapi: '3.1.0', servers: [{ url: server.url + mount }] });
  });

  it.each([OPEN, CLOSED])('is the target of %s/docs where no page is made of it', async (mount) => {
    const { headers } = await fetch(`${server.url}${mount}/docs`, { redirect: 'manual' });
    expect(headers.get('location')).toBe(`${mount}/openapi.json`);
  });
});
