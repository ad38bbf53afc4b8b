/** `koppelvlak register …` as an operator runs it: the program itself, a real database, and real servers for the domains. */
import { createServer, type Server } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeSource } from '../raadsfeed/aggregator/fake-source.ts';
import { type ProgramOnDatabase, programOnDatabase } from './program.ts';

let program: ProgramOnDatabase;
let source: FakeSource;
let domain: Server;
let domainUrl: string;

beforeEach(async () => {
  program = await programOnDatabase({ RAADSFEED_REGISTER: 'true' });
  source = await new FakeSource('gm0001').listen();
  domain = createServer((request, response) => {
    const found = request.url === '/.well-known/council-feed';
    response.writeHead(found ? 307 : 404, found ? { location: source.url } : {}).end();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => domain.once('listening', resolve));
  const address = domain.address();
  domainUrl = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
});
afterEach(async () => {
  await program.drop();
  domain.close();
  await source.close();
});

describe('register', () => {
  it("finds a feed by its publisher's domain, lists its address, and forgets it", async () => {
    expect(await program.run('register', 'list')).toMatchObject({
      status: 0,
      stdout: 'No feeds; see koppelvlak register add --help.\n',
    });
    expect(await program.run('register', 'add', domainUrl)).toEqual({
      status: 0,
      stdout: `Added: ${source.url}\n`,
      stderr: expect.stringMatching(/^Database \S+ on .+, as \S+\.\n$/),
    });
    expect(await program.json('register', 'list')).toMatchObject({
      status: 0,
      result: [{ serviceUrl: source.url, opgegeven: domainUrl, codes: ['gm0001'], bereikbaar: true }],
    });
    const { stdout } = await program.run('register', 'list');
    expect(stdout).toMatch(/^feed +organisations +last seen +state\n/);
    expect(stdout).toMatch(/\nhttp:\S+ +gm0001 +20\S+Z +answers\n/);
    expect(await program.json('register', 'remove', domainUrl)).toMatchObject({ result: { removed: domainUrl } });
    expect(await program.json('register', 'list')).toMatchObject({ result: [] });
  });

  it('exits with 1 when there is no feed, and with 2 on wrong usage', async () => {
    source.organisaties = [{ organisatiecode: 'amsterdam' }];
    for (const given of [domainUrl, 'http://127.0.0.1:9', 'http://', 'file:///etc/passwd']) {
      const { status, stdout, stderr } = await program.run('register', 'add', given);
      expect({ given, status, stdout }).toEqual({ given, status: 1, stdout: '' });
      expect(stderr).toContain(`no feed was found at ${given}`);
    }
    expect(await program.run('register', 'remove', domainUrl)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('is not in the register'),
    });
    for (const words of [['add'], ['remove'], ['verzonnen'], ['list', '--verzonnen']])
      expect(await program.run('register', ...words)).toMatchObject({ status: 2, stdout: '' });
    expect(await program.json('register', 'list')).toMatchObject({ result: [] });
  });
});
