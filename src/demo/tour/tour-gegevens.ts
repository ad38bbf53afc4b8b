import { readFile } from 'node:fs/promises';
import { isRecord } from '../../lib/json/json-value.ts';
import { type DemoAnswer, mintFscToken, processingHeaders, recordsOf } from '../demo-client.ts';
import type { TourNeeds } from '../demo-part.ts';
import { period } from '../example-data.ts';
import { tourCheck } from '../parts/tools.ts';
import { checkMessage, type SignatureForm, signMessage } from '../signed-message.ts';

const VARIANTS = {
  shv: {
    title: 'Debt assistance (SHV): a statistics office asks a supplier for trajectories',
    form: 'body',
    records: 'schuldhulptrajecten',
    what: 'trajectories',
  },
  vs: {
    title: 'Early warnings (VS): the same office asks for signals',
    form: 'digest',
    records: 'vroegsignalen',
    what: 'signals',
  },
} as const satisfies Record<string, { title: string; form: SignatureForm; records: string; what: string }>;

const FORM_TEXT = { body: 'over the body itself', digest: 'over the Digest header' } as const;

export async function tourGegevens(needs: TourNeeds, variant: 'shv' | 'vs'): Promise<void> {
  const { transcript, demo, client } = needs;
  const { title, form, records, what } = VARIANTS[variant];
  const { requester, supplier, mounts, pki } = demo.file;
  const url = `${mounts[variant]}/gegevens`;
  transcript.section(title, variant);
  await transcript.part(`${variant} is delivered`, async () => {
    const identity = { key: await readFile(requester.key, 'utf8'), chain: await readFile(requester.chain, 'utf8') };
    const root = await readFile(pki.root, 'utf8');
    /** @param extra headers that replace others after signing */
    const ask = async (request: object, extra: Readonly<Record<string, string>> = {}): Promise<DemoAnswer> => {
      const body = Buffer.from(JSON.stringify(request));
      const signed = await signMessage(body, identity, form);
      const headers = { ...processingHeaders(requester.oin), ...signed, ...extra };
      return client.call('POST', url, { as: 'statistiek', headers, body });
    };

    const quarter = { aanleverperiodeStartdatum: period.start, aanleverperiodeEinddatum: period.end };
    transcript.line(`POST ${url}`);
    transcript.line(JSON.stringify(quarter));
    transcript.line(`with a token of client \`statistiek\`, signed by OIN ${requester.oin} ${FORM_TEXT[form]}`);
    const whole = await ask(quarter);
    transcript.line(`-> ${whole.status}, ${whole.bytes.length} bytes`);
    transcript.status('the answer is 200', whole, 200);
    const checked = await checkMessage(whole.bytes, whole.headers, root);
    transcript.check('the Digest is that of the bytes received', checked.digestMatches);
    transcript.check(`the signature (PS256, ${FORM_TEXT[checked.form]}) holds`, checked.signatureHolds);
    transcript.check('the answer is signed in the form of the request', checked.form === form, checked.form);
    transcript.check("its certificate chain ends at the demo's root", checked.leadsToRoot);
    transcript.check('the signer is the supplier', checked.subject.includes(supplier.oin), checked.subject);
    const { organisations, ids } = contentOf(whole, records);
    transcript.line(`${organisations} organisations, ${ids.length} ${what}`);
    transcript.check('three organisations or more are delivered', organisations >= 3, String(organisations));

    const paged = await pages((page) => ask({ ...quarter, ...page }), records);
    transcript.line(`the same in pages of 5: ${paged.length} pages`);
    transcript.check('the pages hold exactly the same records', JSON.stringify(paged.flat()) === JSON.stringify(ids));

    await tourCheck(needs, variant, ids.length);

    const { fsc } = demo.file;
    const token = await mintFscToken(fsc, fsc.services[variant], requester.oin);
    const throughInway = await ask(quarter, { 'fsc-authorization': `Bearer ${token}` });
    transcript.status('a token of an FSC Manager, as an Inway passes it on, is accepted too', throughInway, 200);
    const tampered = await ask({}, { digest: `SHA-256=${'A'.repeat(43)}=` });
    transcript.status('a wrong Digest is refused with 400', tampered, 400);
    const unsigned = await client.call('POST', url, { as: 'statistiek', body: {} });
    transcript.status('a request without a signature is refused with 400', unsigned, 400);
    const stranger = await client.call('POST', url, { as: 'niemand', body: {} });
    transcript.status('a token without scope `read` is refused with 403', stranger, 403);
    const anonymous = await client.call('POST', url, { body: {} });
    transcript.check(
      'a request without a token is refused with 401, with the reason',
      anonymous.status === 401 && anonymous.headers.get('fsc-error-code') === 'ERROR_CODE_ACCESS_TOKEN_MISSING',
      String(anonymous.status),
    );
  });
}

async function pages(ask: (request: object) => Promise<DemoAnswer>, records: string): Promise<string[][]> {
  const found: string[][] = [];
  for (let page = 1, last = 1; page <= last && page <= 100; page += 1) {
    const answer = await ask({ page, pageSize: 5 });
    const { paginering } = answer.body;
    if (!isRecord(paginering)) throw new Error(`page ${page} was answered with ${answer.status} and no paginering`);
    last = Number(paginering.totalPages);
    found.push(contentOf(answer, records).ids);
  }
  return found;
}

function contentOf({ body }: DemoAnswer, records: string): { organisations: number; ids: string[] } {
  const gegevens = isRecord(body.gegevens) ? body.gegevens : {};
  const leveringen = recordsOf(gegevens.leveringen);
  const ids = leveringen.flatMap((levering) => {
    const list = levering[records];
    return (Array.isArray(list) ? list : []).map((record) => JSON.stringify(record));
  });
  return { organisations: leveringen.length, ids };
}
