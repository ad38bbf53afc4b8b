/** A supplier with some of everything that the suite looks at, and the credentials of its requester. */
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadModel } from '../../src/lib/exchange-model/model.ts';
import { parsePemCertificates } from '../../src/lib/jades/certificate.ts';
import { createGuardedFetch } from '../../src/lib/outbound/guarded-fetch.ts';
import { messageFile, shvMessage, vsMessage } from '../../test/gegevens/support/messages.ts';
import { openSupplier, type Supplier } from '../../test/gegevens/support/supplier.ts';
import { mintLeaf, mintRoot } from '../../test/support/authority/profiles.ts';
import { mintFscToken } from '../../test/support/fsc-token.ts';
import type { Identity } from '../gegevens/signed-request.ts';
import { makeStrangers } from '../gegevens/strangers.ts';
import { readSubject } from '../gegevens/subject.ts';
import { GEGEVENS } from '../gegevens/suite.ts';
import type { CaseResult } from '../run-suite.ts';
import { readTrust } from '../signature/trust.ts';
import type { FaultKeys } from './mutants/signature-faults.ts';
import { runCases } from './run-cases.ts';

type Variant = 'shv' | 'vs';

const GROUP = { groupId: 'groep', peerId: '00000099000000002000', audience: 'https://inway.example' };

/** A person, whom no report may name. */
export const PERSON = '999990019';
/** Personal data in the message. */
export const DESCRIPTION = 'Traject van mevrouw Voorbeeld';

interface RunWishes {
  readonly isWanted?: (id: string) => boolean;
  readonly variant?: Variant;
  /** Names of missing access tokens, and `revoked`. */
  readonly without?: readonly string[];
}

/** TLS is not required on this machine. */
export const NOT_OFFERED = ['A-HTTP-10'];

export interface ExampleSupplier extends Supplier {
  readonly dir: string;
  /** The message that it delivers (SHV). */
  readonly file: string;
  /** Address of `gegevens`. */
  readonly url: (variant: Variant) => string;
  /** Requester, supplier, and a party that may no longer be either. */
  readonly identities: Readonly<Record<'requester' | 'supplier' | 'revoked' | 'expired', Identity>>;
  /** For making more certificates. */
  readonly keys: FaultKeys;
  /** Access tokens: `read` is valid. */
  readonly accessTokens: Readonly<Record<string, string>>;
  /** The FSC Manager, as PEM files, and its group. */
  readonly manager: { readonly key: string; readonly certificate: string };
  readonly group: typeof GROUP;
  /** With a valid access token. */
  readonly tokenFile: string;
  /** Runs the cases against an address, as fast as it answers. */
  run(url: string, wishes?: RunWishes): Promise<readonly CaseResult[]>;
}

const DAY_MS = 86_400_000;

const LEVERINGEN = [
  {
    naam: 'Noord',
    kvk: '90000001',
    records: [
      { mark: DESCRIPTION, van: '2026-01-05', tot: '2026-02-20', bsn: [PERSON] },
      { mark: 'n2', van: '2026-02-10' },
      { mark: 'n3', van: '2025-11-01' },
      { mark: 'n4', van: '2026-03-02' },
    ],
  },
  {
    naam: 'Zuid',
    kvk: '90000002',
    gemeentecode: '0002',
    records: [
      { mark: 'z1', van: '2026-01-20' },
      { mark: 'z2', van: '2026-02-14' },
      { mark: 'z3', van: '2026-03-30' },
    ],
  },
];
const signalsOnly = LEVERINGEN.map(({ records, ...levering }) => ({
  ...levering,
  records: records.map(({ mark, van }) => ({ mark, van: van < '2026' ? '2026-01-02' : van })),
}));

export async function startExampleSupplier(): Promise<ExampleSupplier> {
  const dir = mkdtempSync(join(tmpdir(), 'conformance-'));
  const manager = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const certificate = mintRoot(manager, new Date()).toString();
  const certificateFile = join(dir, 'manager.pem');
  writeFileSync(certificateFile, certificate);
  const keyFile = join(dir, 'manager-key.pem');
  writeFileSync(keyFile, manager.export({ type: 'pkcs8', format: 'pem' }));
  const supplier = await openSupplier({
    env: {
      FSC_GROUP_ID: GROUP.groupId,
      FSC_PEER_ID: GROUP.peerId,
      FSC_AUDIENCE: GROUP.audience,
      FSC_TOKEN_CERTIFICATES: certificateFile,
      GEGEVENS_RATE_LIMIT: '0',
    },
  });
  const { authority, tokens } = supplier;
  const file = messageFile(shvMessage({ leveringen: LEVERINGEN }));
  await supplier.import('shv', file);
  await supplier.import('vs', messageFile(vsMessage({ leveringen: signalsOnly })));
  const identityOf = (key: string, chain: string): Identity => ({
    key: createPrivateKey(readFileSync(key)),
    x5c: parsePemCertificates(readFileSync(chain, 'utf8')).map(({ der }) => der.toString('base64')),
  });
  const [requester, signer] = [authority.requester, authority.supplier].map(({ key, chain }) => identityOf(key, chain));
  const party = await authority.party(dir, 'ingetrokken', {
    organization: 'Ingetrokken',
    oin: authority.requester.oin,
  });
  const [leaf] = parsePemCertificates(readFileSync(party.certificate, 'utf8'));
  writeFileSync(authority.revoked, `${leaf?.x509.serialNumber}\n`, { flag: 'a' });
  const expired = ({ key, x5c }: Identity, oin: string): Identity => ({
    key,
    x5c: [
      mintLeaf({
        key,
        issuer: authority.issuers.intermediate,
        now: new Date(),
        organization: 'Verlopen',
        oin,
        ocspUrl: authority.ocspUrl,
        crlUrl: authority.crlUrl,
        notBefore: new Date(Date.now() - 400 * DAY_MS),
        notAfter: new Date(Date.now() - DAY_MS),
      }).raw.toString('base64'),
      ...x5c.slice(1),
    ],
  });
  if (requester === undefined || signer === undefined) throw new TypeError('the authority has no parties');
  const identities = {
    requester,
    supplier: signer,
    revoked: identityOf(party.key, party.chain),
    expired: expired(requester, authority.requester.oin),
  };
  const fsc = { ...GROUP, key: manager.export({ type: 'pkcs8', format: 'pem' }).toString(), certificate };
  // Long enough for all mutants.
  const ofManager = { ...fsc, service: 'shv', subject: authority.requester.oin, lifetimeSeconds: 7200 };
  const accessTokens = {
    read: await tokens.token(['read'], { seconds: 7200 }),
    expired: await tokens.token(['read'], { seconds: -3600 }),
    'without-scope': await tokens.token(['create:normal'], { seconds: 7200 }),
    'other-group': await mintFscToken({ ...ofManager, groupId: 'andere-groep' }),
    'other-service': await mintFscToken({ ...ofManager, service: 'andere-dienst' }),
  };
  const tokenFile = join(dir, 'token.txt');
  writeFileSync(tokenFile, accessTokens.read);
  const network = createGuardedFetch({ allowPrivate: true });
  const keys = {
    issuer: authority.issuers.intermediate,
    ocspUrl: authority.ocspUrl,
    crlUrl: authority.crlUrl,
    suppliers: { revoked: identities.revoked, ownRoot: makeStrangers(signer).ownRoot },
  };
  const strangers = makeStrangers(requester);
  return {
    ...supplier,
    dir,
    file,
    identities,
    accessTokens,
    keys,
    tokenFile,
    group: GROUP,
    manager: { key: keyFile, certificate: certificateFile },
    url: (variant) => `${supplier.server.url}/${variant}/v1/gegevens`,
    run(url, { isWanted, variant = 'shv', without = [] } = {}) {
      const given = Object.entries(accessTokens).filter(([name]) => !without.includes(name));
      const anchors = readFileSync(authority.root, 'utf8');
      return runCases({
        suite: GEGEVENS,
        tested: url,
        isWanted,
        tokens: Object.fromEntries(given.map(([name, token]) => [name, async () => token] as const)),
        open: (client, signal) =>
          readSubject(
            {
              url,
              model: loadModel(variant),
              otherModels: [],
              tokenHeader: 'authorization',
              strangers,
              identity: requester,
              expired: identities.expired,
              trust: readTrust({ anchors, at: new Date(), fetch: network.fetch, signal }),
              revoked: without.includes('revoked') ? undefined : identities.revoked,
              token: async () => accessTokens.read,
            },
            client,
          ),
      });
    },
    async close() {
      await network.close();
      await supplier.close();
      rmSync(dir, { recursive: true });
    },
  };
}
