/**
 * Plays a consumer and a provider against a log, and shows the result as the citizen sees it. Run it with
 *
 *   LOG_URL=… TOKEN_URL=… CLIENT_ID=… CLIENT_SECRET=… node -C koppelvlak-source examples/verwerkingenlog/main.ts
 *
 * with a client that has the scopes `create:normal` and `read:restricted`.
 */
import process from 'node:process';
import { clientCredentials, createVerwerkingenlogClient } from 'koppelvlak/verwerkingenlog';
import { handleIntake } from './intake.ts';
import { buildPersonen } from './personen.ts';

const { LOG_URL: url, TOKEN_URL: tokenUrl, CLIENT_ID: clientId, CLIENT_SECRET: clientSecret } = process.env;
if (url === undefined || tokenUrl === undefined || clientId === undefined || clientSecret === undefined) {
  process.stderr.write('LOG_URL, TOKEN_URL, CLIENT_ID and CLIENT_SECRET are needed\n');
  process.exit(2);
}

const BSN = '999990019';
const token = clientCredentials({ tokenUrl, clientId, clientSecret, scopes: ['create:normal', 'read:restricted'] });
const client = createVerwerkingenlogClient({ url, token });
const personen = await buildPersonen(client);
try {
  const personenUrl = await personen.listen({ host: '127.0.0.1', port: 0 });
  const { naam, verwerkingId } = await handleIntake(BSN, personenUrl, client);
  process.stdout.write(`The intake of ${naam} is processing ${verwerkingId}. What ${naam} sees of it:\n`);

  const query = new URLSearchParams({ objecttype: 'persoon', soortObjectId: 'BSN', objectId: BSN });
  const inspection = await fetch(`${url}/verwerkte-objecten?${query}`, {
    headers: {
      authorization: `Bearer ${await token()}`,
      OIN: '00000099000000001000',
      VerwerkingId: verwerkingId,
      Vertrouwelijkheid: 'normaal',
      Bewaartermijn: 'P1Y',
    },
  });
  const { results = [] } = Object(await inspection.json());
  for (const { verwerkingsactie } of results) {
    const { tijdstip, actieNaam, verwerkingNaam, uitvoerder, afnemerId } = verwerkingsactie;
    const receiver = afnemerId === null ? '' : `, for ${afnemerId}`;
    process.stdout.write(`  ${tijdstip}  ${actieNaam} (${verwerkingNaam ?? '-'}) by ${uitvoerder ?? '-'}${receiver}\n`);
  }
} finally {
  await personen.close();
  await client.close();
}
