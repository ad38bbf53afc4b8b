import { checkStored } from '../../gegevens/tools/check/check-deliveries.ts';
import { summary } from '../../gegevens/tools/check/report.ts';
import { reportWords } from '../../gegevens/tools/check/report-words.ts';
import { sheetLines } from '../../gegevens/tools/preflight/data-sheet.ts';
import { preflight } from '../../gegevens/tools/preflight/preflight.ts';
import { variantSettings } from '../../gegevens/variant-settings.ts';
import { loadModel } from '../../lib/exchange-model/model.ts';
import { readConfig } from '../../settings/read-config.ts';
import { mintFscToken } from '../demo-client.ts';
import type { TourNeeds } from '../demo-part.ts';
import { period } from '../example-data.ts';

const SHOWN = ['certificate-chain', 'certificate-revocation', 'transport-certificate', 'clock', 'request-shv'];
const TIMEOUT_MS = 10_000;

export async function tourPreflight({ config, transcript, demo }: TourNeeds): Promise<void> {
  if (!config.server.areas.some((area) => area === 'shv' || area === 'vs')) return;
  const { environment, fsc, supplier } = demo.file;
  transcript.section(
    'Before the first request: a supplier checks itself and makes the data sheet for the office',
    'preflight',
  );
  await transcript.part('preflight ran', async () => {
    const { lines, dataSheet } = await preflight({
      config: readConfig(environment, 'tool'),
      transportCertificate: fsc.certificate,
      faults: [],
      now: () => new Date(),
      timeoutMs: TIMEOUT_MS,
      signal: new AbortController().signal,
      contacts: ['Beheer, beheer@voorbeeld.example'],
      authorization: async (variant) => ({
        'fsc-authorization': `Bearer ${await mintFscToken(fsc, fsc.services[variant], supplier.oin)}`,
      }),
    });
    for (const { name, detail } of lines.filter((line) => SHOWN.includes(line.name))) {
      transcript.line(`${name.padEnd(24)}${detail}`);
    }
    const odd = lines.filter(({ state }) => state !== 'ok').map(({ name, detail }) => `${name}: ${detail}`);
    transcript.check(`all ${lines.length} lines are ok`, odd.length === 0, odd.join('; '));
    transcript.line('from its data sheet:');
    for (const line of sheetLines(dataSheet).filter((each) => /^ {2}(OIN|service|protocol) /.test(each))) {
      transcript.line(line);
    }
    transcript.line('try (with the variables of `environment` in demo.json):');
    transcript.command(`npm run --silent koppelvlak -- gegevens preflight --transport-certificate ${fsc.certificate}`);
  });
}

/** The findings of `gegevens check` for the same quarter: by the rules of the statistics office, with the counts that it reports back. */
export async function tourCheck(
  { transcript, config, pool, signal }: TourNeeds,
  variant: 'shv' | 'vs',
  delivered: number,
): Promise<void> {
  const { supplierCode: leverancierscode } = config.gegevens;
  const model = loadModel(variant, variantSettings(config.gegevens, variant).model);
  const now = new Date();
  const options = { model, period, now, signal, leverancierscode };
  const { report } = await checkStored(pool, options);
  transcript.line('how the office will see it:');
  transcript.command(
    `npm run --silent koppelvlak -- gegevens check --variant ${variant} --period ${period.start}/${period.end}`,
  );
  const counted = variant === 'shv' ? 'trajectories' : 'signals';
  for (const { gemeentecode, counts } of report.municipalities) {
    const { persons, activePersons } = counts;
    transcript.line(
      `  ${reportWords.en.municipality(gemeentecode)}: ${counts[counted]} ${counted}, ${persons} persons, ${activePersons} active`,
    );
  }
  transcript.line(`  ${summary(report)}`);
  const all = report.municipalities.reduce((sum, { counts }) => sum + (counts[counted] ?? 0), 0);
  transcript.check('the check counts what was delivered', all === delivered, String(all));
}
