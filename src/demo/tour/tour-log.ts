import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../lib/json/json-value.ts';
import { type DemoAnswer, processingHeaders, recordsOf } from '../demo-client.ts';
import type { TourNeeds } from '../demo-part.ts';
import { persons, uitvoerder, voorbeeldActie } from '../example-data.ts';

const WAYS = [
  [
    'F4086',
    'inzage',
    'beperkteSet=true&vertrouwelijkheid=normaal',
    'actions that are not confidential, limited fields',
  ],
  [
    'F2525',
    'inzage',
    'beperkteSet=true&vertrouwelijkheid=opgeheven',
    'actions that are no longer confidential, limited fields',
  ],
  [
    'F9787',
    'applicatie',
    'beperkteSet=false&vertrouwelijkheid=normaal',
    'actions that are not confidential, all fields',
  ],
  ['F0143', 'onderzoek', 'beperkteSet=false&vertrouwelijkheid=vertrouwelijk', 'confidential actions, all fields'],
] as const;

export async function tourLog(needs: TourNeeds): Promise<void> {
  const { transcript, demo, client } = needs;
  const url = `${demo.file.mounts.verwerkingenlog}/verwerkingsacties`;
  transcript.section('The processing log: who did what with whose data', 'log');
  await transcript.part('the log works', async () => {
    const example = await voorbeeldActie();
    const log = (as: string, fields: object): Promise<DemoAnswer> =>
      client.call('POST', url, { as, body: { ...example, ...fields } });
    const query = `objecttype=persoon&soortObjectId=BSN&objectId=${persons.eerste}&limit=1000`;
    // A consumer names the processing for which it searches.
    const headers = processingHeaders(uitvoerder);
    const [lookNormal, lookLifted, lookAll, lookSecret] = WAYS;

    transcript.line(`POST ${url}`);
    const normal = await log('applicatie', { vertrouwelijkheid: 'normaal' });
    const actieId = normal.body.actieId;
    transcript.line(`client \`applicatie\` logs a normal action on BSN ${persons.eerste} -> ${normal.status}`);
    transcript.check(
      'a normal action is stored (201 with its address)',
      normal.status === 201 && normal.headers.has('location'),
    );
    const verwerkingId = randomUUID();
    const secret = await log('onderzoek', { vertrouwelijkheid: 'vertrouwelijk', verwerkingId });
    const secretId = secret.body.actieId;
    transcript.line(`client \`onderzoek\` logs a confidential one -> ${secret.status}`);
    transcript.status('a confidential action is stored', secret, 201);
    const refused = await log('applicatie', { vertrouwelijkheid: 'vertrouwelijk' });
    transcript.status('`applicatie` may not log a confidential one (403)', refused, 403);
    const faulty = await log('applicatie', { vertrouwelijkheid: 'geheim', tijdstip: 'gisteren' });
    const faults = Array.isArray(faulty.body.invalidParams) ? faulty.body.invalidParams.length : 0;
    transcript.check(
      'a faulty action is refused with all its faults (400)',
      faulty.status === 400 && faults >= 2,
      String(faults),
    );

    const has = (found: readonly JsonObject[], id: unknown): boolean => found.some((actie) => actie.actieId === id);
    const search = async (way: (typeof WAYS)[number]): Promise<readonly JsonObject[]> => {
      const { status, body } = await client.call('GET', `${url}?${query}&${way[2]}`, { as: way[1], headers });
      if (status !== 200) throw new Error(`${way[0]} was answered with ${status}`);
      const found = recordsOf(body.results);
      transcript.line(`${way[0]}: client \`${way[1]}\` asks for ${way[3]} -> ${found.length}`);
      return found;
    };
    transcript.line(`GET ${url}?${query}&…`);
    transcript.line('(each search is logged too, so the counts grow)');
    const asPerson = await search(lookNormal);
    transcript.check(
      'F4086 shows the normal action and not the confidential one',
      has(asPerson, actieId) && !has(asPerson, secretId),
    );
    transcript.check(
      'F4086 leaves out `systeem`, `gebruiker` and `gegevensbron`',
      asPerson.every((actie) => !('systeem' in actie) && !('gebruiker' in actie) && !('gegevensbron' in actie)),
    );
    const asApplication = await search(lookAll);
    transcript.check(
      'F9787 shows all its fields',
      asApplication.some((actie) => actie.actieId === actieId && actie.systeem === 'Rondleiding'),
    );
    const asInvestigator = await search(lookSecret);
    transcript.check(
      'F0143 shows the confidential action to `onderzoek` only',
      has(asInvestigator, secretId) && !has(asInvestigator, actieId),
    );

    const lifted = await client.call('PATCH', `${url}?verwerkingId=${verwerkingId}`, {
      as: 'onderzoek',
      body: { vertrouwelijkheid: 'opgeheven' },
    });
    transcript.line(`client \`onderzoek\` lifts the confidentiality of its processing -> ${lifted.status}`);
    transcript.status('confidentiality is lifted (204)', lifted, 204);
    transcript.check('F2525 now shows that action to the person', has(await search(lookLifted), secretId));
    const denied = await client.call('GET', `${url}?${query}&${lookSecret[2]}`, { as: 'inzage' });
    transcript.status('`inzage` may not ask for confidential ones (403)', denied, 403);

    transcript.line('try (the token of the client that represents the person):');
    transcript.command(tokenCommand(demo.home, demo.file.tokenUrl));
    transcript.command(
      `curl -s -H "Authorization: Bearer $TOKEN" "${url}?${query.replace('1000', '3')}&${lookNormal[2]}"`,
    );
  });
}

/** Fetches a token in the shell. The secret comes from the file and is not shown. */
function tokenCommand(home: string, tokenUrl: string): string {
  const login = `const { id, secret } = require('${home}/demo.json').clients.inzage; id + ':' + secret`;
  return `TOKEN=$(curl -s -u "$(node -p "${login}")" -d grant_type=client_credentials ${tokenUrl} | node -p "JSON.parse(require('fs').readFileSync(0)).access_token")`;
}
