import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readJournal } from '../../src/gegevens/store/journal.ts';
import { PLAIN_STYLES } from '../../src/lib/jades/signature.ts';
import { messageFile, shvMessage, vsMessage } from './support/messages.ts';
import { openSupplier, type Supplier } from './support/supplier.ts';

const REQUESTER = '00000099000000001000';
const ACTIVITEIT = '0f5d1a40-6c0e-4f1c-9a52-6a4f7f1f2a10';
const VERWERKING = '6b1d7d6e-2f0b-4b5e-8f35-1c6f0f0a7c11';

let supplier: Supplier;
beforeAll(async () => {
  supplier = await openSupplier();
  await supplier.import('shv', messageFile(shvMessage({ leveringen: [{ naam: 'Noord', records: 3 }] })));
  await supplier.import('vs', messageFile(vsMessage({ leveringen: [{ naam: 'Noord', records: 3 }] })));
});
afterAll(() => supplier.close());

async function logged(): Promise<Record<string, unknown>[]> {
  return supplier.asOwner('select * from verwerkingenlog.versies order by tijdstip_registratie desc');
}

it('records the request and the delivery, with both signatures', async () => {
  const body = '{"page": 1, "pageSize":2}';
  const signed = await supplier.requester.sign(body, PLAIN_STYLES.body);
  const headers = { ...signed, 'fsc-transaction-id': VERWERKING };
  const answer = await supplier.get(body, { headers });
  const [entry] = await readJournal(supplier.pool, { limit: 1 });
  expect(entry).toMatchObject({
    variant: 'shv',
    oin: REQUESTER,
    subject: 'test',
    fscTransactieId: VERWERKING,
    vraag: body,
    vraagDigest: signed.digest,
    vraagHandtekening: signed['nlgov-adr-payload-sig'],
    pagina: 1,
    paginaGrootte: 2,
    records: 2,
    bytes: answer.bytes.length,
    antwoordDigest: `SHA-256=${createHash('sha256').update(answer.bytes).digest('base64')}`,
    antwoordHandtekening: answer.headers.get('nlgov-adr-payload-sig'),
  });
});

it('notes when an answer has been sent completely', async () => {
  await supplier.get({});
  await expect.poll(async () => (await readJournal(supplier.pool, { limit: 1 }))[0]?.verzondenOp).toBeInstanceOf(Date);
});

it('contains no personal data', async () => {
  await supplier.get({}, { variant: 'vs' });
  expect(JSON.stringify(await readJournal(supplier.pool, { limit: 1 }))).not.toContain('"r1"');
});

it('cannot be changed by the service', async () => {
  await expect(supplier.pool.query('delete from gegevens.journal')).rejects.toThrow(/permission denied/);
  await expect(supplier.pool.query(`update gegevens.journal set oin = ''`)).rejects.toThrow(/permission denied/);
});

it('cannot be changed by the retention role either; the database owner may archive and remove', async () => {
  const forbidden = supplier.asOwner('set role koppelvlak_opschoner; delete from gegevens.journal');
  await expect(forbidden).rejects.toThrow(/permission denied/);
  const before = await readJournal(supplier.pool, { limit: 1000 });
  const [line] = await supplier.asOwner(
    `select to_jsonb(j) as regel from gegevens.journal j where prepared_at < 'tomorrow' order by id desc`,
  );
  expect(line?.regel).toMatchObject({ id: before[0]?.id, answer_signature: before[0]?.antwoordHandtekening });
  await supplier.asOwner(`delete from gegevens.journal where prepared_at < now()`);
  expect(await readJournal(supplier.pool, { limit: 1 })).toEqual([]);
});

it("writes one entry in the processing log, with the requester's headers and no persons", async () => {
  const before = (await logged()).length;
  await supplier.get(
    {},
    {
      headers: {
        OIN: REQUESTER,
        VerwerkingsactiviteitId: ACTIVITEIT,
        VerwerkingsactiviteitUrl: 'https://register.example/1',
        VerwerkingId: VERWERKING,
        Vertrouwelijkheid: 'Vertrouwelijk',
        Bewaartermijn: 'P10Y',
      },
    },
  );
  const entries = await logged();
  expect(entries).toHaveLength(before + 1);
  expect(JSON.stringify(entries[0])).toMatch(/Levering van gegevens over schuldhulptrajecten/);
  for (const text of [REQUESTER, ACTIVITEIT, VERWERKING, 'https://register.example/1', 'vertrouwelijk']) {
    expect(JSON.stringify(entries[0])).toContain(text);
  }
});

it('logs the signer, with or without a header, and refuses a header that names another', async () => {
  for (const headers of [{}, { OIN: REQUESTER }]) {
    await supplier.get({}, { headers });
    expect((await logged())[0]).toMatchObject({ soort_afnemer_id: 'OIN', afnemer_id: REQUESTER });
  }
  const before = (await logged()).length;
  const refused = await supplier.ask({}, { headers: { OIN: '00000099000000009000' } });
  expect(refused.status).toBe(403);
  expect(await logged()).toHaveLength(before);
});

it.each([
  ['shv', undefined, 'P10Y'],
  ['vs', 'P1D', 'P10Y'],
  ['shv', 'P15Y', 'P15Y'],
  ['vs', 'P99Y', 'P20Y'],
] as const)(
  'keeps the entry of a delivery %s, for which the requester says %s, for %s',
  async (variant, Bewaartermijn, kept) => {
    await supplier.get(
      {},
      { variant, headers: { VerwerkingId: VERWERKING, Bewaartermijn, Vertrouwelijkheid: 'vertrouwelijk' } },
    );
    const [entry] = await logged();
    expect(entry).toMatchObject({
      bewaartermijn: kept,
      vertrouwelijkheid: 'normaal',
      verwerking_id_afnemer: VERWERKING,
    });
    expect(entry?.verwerking_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(entry?.verwerking_id).not.toBe(VERWERKING);
    const known = await supplier.asOwner(
      `select naam from verwerkingenlog.verwerkingsactiviteiten where verwerkingsactiviteit_id = '${entry?.verwerkingsactiviteit_id}'`,
    );
    expect(known).toHaveLength(1);
  },
);

it('hides the entry of a delivery only for a requester whose token may log confidential actions', async () => {
  const scopes = ['read', 'create:confidential'];
  const token = await supplier.tokens.bearer(scopes);
  await supplier.get({}, { headers: { ...token, VerwerkingId: VERWERKING, Vertrouwelijkheid: 'vertrouwelijk' } });
  expect((await logged())[0]).toMatchObject({ vertrouwelijkheid: 'vertrouwelijk', ooit_vertrouwelijk: true });
});

it('records each kind of delivery under its configured activity', async () => {
  const [shv, vs] = ['11111111-6c0e-4f1c-9a52-6a4f7f1f2a10', '22222222-6c0e-4f1c-9a52-6a4f7f1f2a10'];
  const server = await supplier.another({ VERWERKINGENLOG_OWN_ACTIVITIES: `shv=${shv}, vs=${vs}` });
  for (const [variant, activity] of [
    ['shv', shv],
    ['vs', vs],
  ] as const) {
    await supplier.get({}, { variant, server });
    expect((await logged())[0]).toMatchObject({ verwerkingsactiviteit_id: activity });
  }
});

it('warns about missing headers, counts them, and refuses them where they are required', async () => {
  await supplier.get({});
  expect(supplier.server.logged).toContainEqual(
    expect.objectContaining({ missing: ['OIN', 'VerwerkingId'], level: 40 }),
  );
  const metrics = await (await fetch(`${supplier.server.managementUrl}/metrics`)).text();
  expect(metrics).toMatch(/koppelvlak_processing_headers_missing_total\{header="OIN"\} [1-9]/);
  const server = await supplier.another({ PROCESSING_HEADERS: 'required' });
  const refused = await supplier.ask({}, { server });
  expect(refused.status).toBe(400);
  expect(JSON.parse(refused.text).detail).toBe('OIN: ontbreekt; VerwerkingId: ontbreekt');
  const headers = { OIN: REQUESTER, VerwerkingId: VERWERKING };
  expect((await supplier.ask({}, { server, headers })).status).toBe(200);
});

it.each(['verwerkingenlog.versies', 'gegevens.journal'])(
  'delivers nothing, and writes neither, when %s cannot be written',
  async (table) => {
    const written = () =>
      supplier.asOwner(`select (select count(*) from gegevens.journal) as journal,
        (select count(*) from verwerkingenlog.versies) as logged`);
    const before = await written();
    await supplier.asOwner(`revoke insert on ${table} from koppelvlak_dienst`);
    try {
      const answer = await supplier.ask({});
      expect(answer.status).toBe(502);
      expect(answer.headers.get('fsc-error-code')).toBe('ERROR_CODE_SERVICE_UNREACHABLE');
      expect(answer.headers.has('nlgov-adr-payload-sig')).toBe(false);
      expect(answer.text).not.toContain('Noord');
      expect(await written()).toEqual(before);
    } finally {
      await supplier.asOwner(`grant insert on ${table} to koppelvlak_dienst`);
    }
    expect((await supplier.ask({})).status).toBe(200);
  },
);

it('is recorded once, even in a month for which the processing log has no partition yet', async () => {
  const counts = async () => {
    const [row] = await supplier.asOwner(`select (select count(*) from gegevens.journal) as journal,
      (select count(*) from verwerkingenlog.versies) as logged`);
    return [Number(row?.journal), Number(row?.logged)];
  };
  const month = new Date().toISOString().slice(0, 7).replace('-', '');
  await supplier.asOwner(`drop table verwerkingenlog.versies_${month}`);
  const [journal = 0, logged = 0] = await counts();
  expect((await supplier.ask({})).status).toBe(200);
  expect(await counts()).toEqual([journal + 1, logged + 1]);
});
