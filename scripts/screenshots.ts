/** Pictures of the pages for docs/screenshots, at three widths, with the data of the demo and one real meeting: `npm run screenshots`. */
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { raadsinformatie } from '../src/demo/example-data.ts';
import { publish } from '../src/demo/load-example-data.ts';
import { readConfig } from '../src/kernel/config/read-config.ts';
import { createLogger } from '../src/kernel/log.ts';
import { openPlatform } from '../src/kernel/platform.ts';
import { followStep } from '../src/raadsfeed/search/follow-feed.ts';
import { createLineValidator } from '../src/raadsfeed/writer/line-validator.ts';
import { publishLines } from '../src/raadsfeed/writer/publish-lines.ts';
import { createPublisher } from '../src/raadsfeed/writer/publisher.ts';
import { serve } from '../src/serve.ts';
import { findChromium, launchChromium } from './chromium.ts';

const ROOT = join(import.meta.dirname, '..');
const OUTPUT = join(ROOT, 'docs/screenshots');
const MEETING = join(ROOT, 'test/fixtures/raadsfeed/vergadering-2018-02-08.ndjson');
const WIDTHS = [320, 768, 1440];
const PAGES = {
  begin: '/raad',
  organisatie: '/raad/gm0363',
  vergadering: '/raad/gm0363/vergaderingen/meeting-458902',
  document: '/raad/gm0363/informatieobjecten/document-6160186',
  zoeken: '/raad/zoeken?q=brief+wethouder',
  verwijderd: '/raad/ws9902/informatieobjecten/document-2026-03-05-2',
};

const executable = findChromium();
if (executable === undefined) throw new Error('there is no Chromium on PATH');
const home = await mkdtemp(join(tmpdir(), 'koppelvlak-screenshots-'));
const log = createLogger('error');
const env = { AREAS: 'raadsfeed', RAADSFEED_PAGES: 'true', PORT: '0', MANAGEMENT_PORT: '0', KOPPELVLAK_HOME: home };
const config = readConfig(env, 'serve');
const service = await serve({ config, log });
try {
  const { platform, close } = await openPlatform({ config, log, purpose: 'command' });
  const demo = raadsinformatie();
  await publish(platform, demo);
  await publishLines(Readable.from([await readFile(MEETING)]), {
    validate: createLineValidator(),
    publisher: createPublisher(platform),
    refused: (line, faults) => {
      throw new Error(`line ${line}: ${faults.join('; ')}`);
    },
    progress: () => {},
    signal: platform.stopping,
  });
  while ((await followStep(platform.pool)) !== 'done');
  await close();
  const removed = demo.find(({ op }) => op === 'redact');
  const { organisatiecode, bronidentificatie } = Object(Object(removed).resource);
  await mkdir(OUTPUT, { recursive: true });
  const browser = await launchChromium(executable);
  for (const width of WIDTHS) {
    const tab = await browser.newPage({ viewport: { width, height: 900 } });
    for (const [name, path] of Object.entries(PAGES)) {
      const address = name === 'verwijderd' ? `/raad/${organisatiecode}/informatieobjecten/${bronidentificatie}` : path;
      await tab.goto(service.url + address);
      await tab.screenshot({
        path: join(OUTPUT, `${name}-${width}.png`),
        fullPage: name !== 'vergadering' || width > 700,
      });
    }
    await tab.close();
  }
  await browser.close();
} finally {
  await service.stop();
  await rm(home, { recursive: true, force: true });
}
