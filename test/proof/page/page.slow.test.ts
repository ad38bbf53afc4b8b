/** The page on which anybody can check a record, in a real browser. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findChromium, inChromium } from '../../../scripts/chromium.ts';
import { isRecord } from '../../../src/lib/json/json-value.ts';
import { checkRecord } from '../../../src/proof/check.ts';
import { controlePage } from '../../../src/proof/page/routes.ts';
import { createSigner, parseVerifierKey, WITNESS_KEY } from '../../../src/proof/tlog/note.ts';
import { sharedChromium } from '../../support/chromium.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { ACTIE, logKey, type Proven, proveRecord } from '../proven-record.ts';
import { realAnswers } from './real-answers.ts';

const witness = createSigner('buurgemeente.example/w', Buffer.alloc(32, 3), WITNESS_KEY);
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const AXE_RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
let server: TestServer;
let whole: Proven;
const executable = findChromium();
const address = (): string => `${server.url}/proof/v1/controleer`;

beforeAll(async () => {
  server = await startServer({
    env: {},
    register: async (app) => {
      await app.register(async (scope) => controlePage(scope, async () => [logKey.key.text, witness.key.text]), {
        prefix: '/proof/v1',
      });
    },
  });
  whole = await proveRecord(ACTIE, () => true, [witness]);
});
afterAll(() => server.stop());

it('has no inline script or style, and a policy that forbids all calls', async () => {
  const answer = await fetch(address());
  const html = await answer.text();
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const policy = answer.headers.get('content-security-policy') ?? '';
  for (const rule of ["default-src 'none'", "script-src 'self'", "connect-src 'none'", "form-action 'none'"]) {
    expect(policy.split('; ')).toContain(rule);
  }
  expect(html).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son[a-z]+=|https?:/);
  expect(html).toContain(logKey.key.text);
  expect(html).not.toContain('{{');
  for (const name of ['controleer.js', 'controleer.css']) {
    expect((await fetch(`${address()}/${name}`)).headers.get('content-type')).toMatch(
      /^text\/(javascript|css); charset=utf-8$/,
    );
  }
});

describe.runIf(executable !== undefined)(inChromium(executable), () => {
  let page: Page;
  const requests: string[] = [];
  const errors: string[] = [];

  beforeAll(async () => {
    page = await (await sharedChromium()).newPage();
    page.on('request', (request) => requests.push(request.url()));
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    page.on('dialog', (dialog) => errors.push(dialog.message()));
    await page.goto(address());
    // From here on there is no network: every test works without.
    await page.context().setOffline(true);
    requests.length = 0;
  });
  afterAll(async () => {
    await page?.context().close();
  });

  /** Selects both files and waits for the outcome. */
  async function check(record: unknown, proof: string, recordName = 'actie.json') {
    const text = typeof record === 'string' ? record : JSON.stringify(record);
    await page.setInputFiles('#gegeven', { name: recordName, mimeType: 'application/json', buffer: Buffer.from(text) });
    await page.setInputFiles('#bewijs', {
      name: 'actie.tlog-proof',
      mimeType: 'text/plain',
      buffer: Buffer.from(proof),
    });
    await page.evaluate("document.getElementById('uitslag').hidden = true");
    await page.click('button[type=submit]');
    const section = page.locator('#uitslag:not([hidden])');
    await section.waitFor();
    return { outcome: await section.getAttribute('data-uitslag'), text: (await section.textContent()) ?? '' };
  }

  it('reports that a record is in the log, what was not shown, and which witness saw it', async () => {
    const { outcome, text } = await check(ACTIE, whole.proof);
    expect(text).toContain('staat in het logboek en is daarna niet veranderd');
    expect(outcome).toBe('bewezen');
    expect(text).toContain(logKey.key.name);
    expect(text).toContain('124 van 300');
    expect(text).toContain('buurgemeente.example/w, 15 juni 2025');
    expect(text).toContain('2 delen zijn voor u verborgen');
    // Focus and screen reader are at the outcome.
    expect(await page.evaluate('document.activeElement?.id')).toBe('uitslag');
  });

  it('accepts a partial view', async () => {
    const { proof } = await proveRecord(ACTIE, (name) => name === 'basis');
    const { systeem, gebruiker, gegevensbron, verwerkteObjecten, ...basis } = ACTIE;
    expect([systeem, gebruiker, gegevensbron, verwerkteObjecten]).toHaveLength(4);
    expect(await check(basis, proof)).toMatchObject({ outcome: 'bewezen' });
  });

  it.each<[string, unknown, RegExp]>([
    ['a changed record', { ...ACTIE, actieNaam: 'Anders' }, /veranderd/],
    ['a record with an extra member', { ...ACTIE, meer: 1 }, /veranderd/],
    ['a record without an object', { ...ACTIE, verwerkteObjecten: [] }, /ontbreekt een deel/],
    ['a file that is not JSON', '{', /geen JSON/],
    ['a list', [], /niet het soort bestand/],
    [
      'a file that is nested too deeply',
      '['.repeat(200_000) + ']'.repeat(200_000),
      /kan niet worden gelezen|geen JSON|soort bestand/,
    ],
  ])('refuses %s', async (_what, record, reason) => {
    const { outcome, text } = await check(record, whole.proof);
    expect(text).toMatch(reason);
    expect(outcome).toBe('niet-bewezen');
  });

  it('refuses a proof of another record, and a modified proof', async () => {
    const other = await proveRecord({ ...ACTIE, actieNaam: 'Van een ander' }, () => true);
    expect(await check(ACTIE, other.proof)).toMatchObject({
      outcome: 'niet-bewezen',
      text: expect.stringContaining('ander gegeven'),
    });
    for (const [from, to, reason] of [
      ['index 123', 'index 12', 'veranderd'],
      ['index 123', 'index 0123', 'getal'],
      ['\n300\n', '\n301\n', 'handtekening'],
      ['/verwerkingen\n', '/leveringen\n', 'geen sleutel'],
      ['c2sp.org/tlog-proof@v1', 'iets anders', 'geen bewijs'],
    ] as const) {
      const { outcome, text } = await check(ACTIE, whole.proof.replace(from, to));
      expect([outcome, text]).toEqual(['niet-bewezen', expect.stringContaining(reason)]);
    }
  });

  it('shows hostile text as text', async () => {
    const hostile = '<img src=x onerror=alert(1)><script>alert(2)</script>';
    const proof = whole.proof.replace(/gemeente\.example\/proof\/v1\/verwerkingen\n/, `${hostile}\n`);
    const { text } = await check(ACTIE, proof, `${hostile}.json`);
    expect(text).toContain(hostile);
    expect(await page.textContent('#gegeven-gekozen')).toContain(hostile);
    expect(await page.locator('main img, main script').count()).toBe(0);
  });

  it('uses the keys that its reader provides', async () => {
    const impostor = createSigner(logKey.key.name, Buffer.alloc(32, 9));
    const given = await page.inputValue('#sleutels');
    await page.click('summary');
    for (const [keys, reason] of [
      [impostor.key.text, 'niet getekend'],
      ['geen sleutel', 'niet goed geschreven'],
      ['', 'geen sleutel'],
    ] as const) {
      await page.fill('#sleutels', keys);
      expect(await check(ACTIE, whole.proof)).toMatchObject({
        outcome: 'niet-bewezen',
        text: expect.stringContaining(reason),
      });
    }
    await page.fill('#sleutels', given);
    expect(await check(ACTIE, whole.proof)).toMatchObject({ outcome: 'bewezen' });
  });

  it("proves the service's answers, as the command line does", async () => {
    const given = await page.inputValue('#sleutels');
    await page.evaluate("document.querySelector('details').open = true");
    for (const { what, record, proof, key } of await realAnswers()) {
      const keys = [parseVerifierKey(key)];
      await page.fill('#sleutels', key);
      expect(
        checkRecord(proof, record, () => keys),
        what,
      ).toMatchObject({ isProven: true });
      expect(await check(record, proof), what).toMatchObject({ outcome: 'bewezen' });
      const changed = { ...Object(record), meer: 1 };
      expect(
        checkRecord(proof, changed, () => keys),
        what,
      ).toMatchObject({ isProven: false });
      expect(await check(changed, proof), what).toMatchObject({ outcome: 'niet-bewezen' });
    }
    await page.fill('#sleutels', given);
  });

  it.each([1280, 320])('has no accessibility fault at %s pixels, and scrolls vertically only', async (width) => {
    await page.setViewportSize({ width, height: 900 });
    const faults: string[] = [];
    // With a proven record, with a refusal, and with the keys shown.
    for (const record of [ACTIE, { ...ACTIE, actieNaam: 'Anders' }]) {
      await check(record, whole.proof);
      await page.evaluate("document.querySelector('details').open = true");
      await page.evaluate(AXE);
      const found: unknown = await page.evaluate(`axe.run({ runOnly: ${JSON.stringify(AXE_RULES)} })`);
      const violations = isRecord(found) && Array.isArray(found.violations) ? found.violations.filter(isRecord) : [{}];
      faults.push(...violations.map(({ id, nodes }) => `${String(id)} ${JSON.stringify(nodes).slice(0, 400)}`));
    }
    expect(faults).toEqual([]);
    // 1.4.10: nothing scrolls sideways at 320 pixels, which equals 400 % zoom.
    const sideways = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    expect(await page.evaluate(sideways)).toBe(0);
  });

  it('has a logical Tab order with a visible focus', async () => {
    await page.evaluate(
      "document.getElementById('uitslag').hidden = true; document.querySelector('details').open = false",
    );
    await page.evaluate('document.activeElement.blur(); window.scrollTo(0, 0)');
    const stops: unknown[] = [];
    for (let stop = 0; stop < 4; stop += 1) {
      await page.keyboard.press('Tab');
      stops.push(
        await page.evaluate(`(() => {
          const here = document.activeElement;
          const { outlineStyle, outlineWidth } = getComputedStyle(here);
          return [here.id || here.localName, outlineStyle !== 'none' && outlineWidth !== '0px'];
        })()`),
      );
    }
    expect(stops).toEqual([
      ['gegeven', true],
      ['bewijs', true],
      ['summary', true],
      ['button', true],
    ]);
  });

  it('names a missing file, works by keyboard, and made no calls at all', async () => {
    await page.setInputFiles('#bewijs', []);
    await page.focus('button[type=submit]');
    await page.keyboard.press('Enter');
    expect(await page.textContent('#uitslag')).toContain('Kies ook het bestand met het bewijs');
    expect(requests).toEqual([]);
    expect(errors).toEqual([]);
  });
});
