import { readFile } from 'node:fs/promises';
import { sheetLines } from '../../extensions/delivery-tools/preflight/data-sheet.ts';
import { preflight } from '../../extensions/delivery-tools/preflight/preflight.ts';
import { readConfig } from '../../kernel/config/read-config.ts';
import { mintFscToken } from '../fsc-manager.ts';
import type { TourNeeds } from '../run-demo.ts';

/** Of the lines of preflight, those that the tour shows. */
const SHOWN = ['certificate-chain', 'certificate-revocation', 'transport-certificate', 'clock', 'request-shv'];
const TIMEOUT_MS = 10_000;

/** The supplier looks whether it could be connected, and has the data sheet that it would send to the office. */
export async function tourPreflight({ transcript, demo }: TourNeeds): Promise<void> {
  const { environment, fsc, supplier } = demo.file;
  transcript.section('Before the first request: what a supplier checks, and sends to the office');
  await transcript.part('preflight was run', async () => {
    const key = await readFile(fsc.key, 'utf8');
    const certificate = await readFile(fsc.certificate, 'utf8');
    const { lines, dataSheet } = await preflight({
      config: readConfig(environment, 'tool'),
      faults: [],
      now: () => new Date(),
      timeoutMs: TIMEOUT_MS,
      signal: new AbortController().signal,
      contacts: ['Beheer, beheer@voorbeeld.example'],
      authorization: async (variant) => ({
        'fsc-authorization': `Bearer ${await mintFscToken({ ...fsc, key, certificate, service: fsc.services[variant], subject: supplier.oin })}`,
      }),
    });
    for (const { name, detail } of lines.filter((line) => SHOWN.includes(line.name))) {
      transcript.line(`${name.padEnd(24)}${detail}`);
    }
    const odd = lines.filter(({ state }) => state !== 'ok').map(({ name, detail }) => `${name}: ${detail}`);
    transcript.check(`preflight: all ${lines.length} lines are ok`, odd.length === 0, odd.join('; '));
    transcript.line('and of its data sheet:');
    for (const line of sheetLines(dataSheet).filter((each) => /^ {2}(OIN|service|protocol) /.test(each))) {
      transcript.line(line);
    }
    transcript.line('try (with the variables of `environment` in demo.json):');
    transcript.command('npm run --silent koppelvlak -- gegevens preflight');
  });
}
