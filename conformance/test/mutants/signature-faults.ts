/** Faults of a signed message, by the rule that must notice. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { Issuer } from '../../../src/lib/authority/certificates.ts';
import { digestOf } from '../../../src/lib/jades/signature.ts';
import { basicConstraints, keyUsage } from '../../../test/support/authority/certificates.ts';
import { mintLeaf } from '../../../test/support/authority/profiles.ts';
import type { CaseDescription } from '../../case.ts';
import { type Identity, rs256, type SignedHeaders, signedHeaders, type Wishes } from '../../gegevens/signed-request.ts';
import type { RunKeys } from '../../requester/keys.ts';
import type { RuleName } from '../../signature/rule.ts';
import { RULES } from '../../signature/rules.ts';
import type { Mutant } from './mutant.ts';

export interface Message {
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
}

interface Kit {
  readonly body: Buffer;
  readonly identity: Identity;
  readonly keys: FaultKeys;
}

/** For making the certificates of a faulty message. */
export interface FaultKeys extends Pick<RunKeys, 'issuer' | 'ocspUrl' | 'crlUrl'> {
  readonly suppliers: Pick<RunKeys['suppliers'], 'ownRoot' | 'revoked'>;
}

export type Make = (kit: Kit) => Message;
const SIGNATURE = 'nlgov-adr-payload-sig';

const signed =
  (
    wishes: Wishes | ((kit: Kit) => Wishes),
    after: (headers: SignedHeaders) => Record<string, string | undefined> = (all) => ({ ...all }),
  ): Make =>
  (kit) => {
    const { identity, ...chosen } = typeof wishes === 'function' ? wishes(kit) : wishes;
    const headers = after(signedHeaders(kit.body, identity ?? kit.identity, chosen));
    const kept = Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    );
    return { headers: kept, body: kit.body };
  };
const changed = (change: (headers: SignedHeaders) => Record<string, string | undefined>): Make => signed({}, change);
const header = (members: Record<string, unknown>, more: Wishes = {}): Make => signed({ header: members, ...more });
const sigD = (members: object): Make =>
  header({ sigD: { mId: 'http://uri.etsi.org/19182/HttpHeaders', pars: ['digest'], ...members } });

/** A leaf of the run's authority with these differences. */
const leaf =
  (
    change: (base: Parameters<typeof mintLeaf>[0], issuer: Issuer) => Parameters<typeof mintLeaf>[0],
    key?: () => KeyObject,
  ): Make =>
  (kit) => {
    const { issuer, ocspUrl, crlUrl } = kit.keys;
    const own = key?.() ?? kit.identity.key;
    const base = {
      key: own,
      issuer,
      now: new Date(),
      organization: 'Voorbeeld',
      oin: '00000099000000001000',
      ocspUrl,
      crlUrl,
    };
    const x5c = [mintLeaf(change(base, issuer)).raw.toString('base64'), ...kit.identity.x5c.slice(1)];
    return signed({ identity: { key: own, x5c } })(kit);
  };

const DAY_MS = 24 * 3_600_000;
const weak = (): KeyObject => generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey;

const SIGNATURE_FAULTS: Readonly<Partial<Record<RuleName, readonly [what: string, make: Make]>>> = {
  digest: ['no digest', changed(({ [SIGNATURE]: signature }) => ({ [SIGNATURE]: signature }))],
  'digest-form': ['a digest in lower case', signed({ digest: 'sha-256=RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o=' })],
  'digest-holds': ['a digest that does not match', signed({ digest: digestOf(Buffer.from('{}')) })],
  'content-digest': [
    'a Content-Digest that does not match',
    changed((all) => ({ ...all, 'content-digest': 'sha-256=:RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o=:' })),
  ],
  signature: ['no signature', changed(({ digest }) => ({ digest }))],
  detached: [
    'a signature that contains the body',
    changed((all) => ({ ...all, [SIGNATURE]: all[SIGNATURE].replace('..', '.e30.') })),
  ],
  base64url: ['padding', changed((all) => ({ ...all, [SIGNATURE]: `${all[SIGNATURE]}=` }))],
  json: [
    'a repeated member',
    changed((all) => {
      const [encoded = '', , signature] = all[SIGNATURE].split('.');
      const text = Buffer.from(encoded, 'base64url').toString().replace('{', '{"alg":"PS256",');
      return { ...all, [SIGNATURE]: `${Buffer.from(text).toString('base64url')}..${signature}` };
    }),
  ],
  alg: ['RS256', header({ alg: 'RS256' }, { sign: rs256 })],
  kid: ['no kid', header({ kid: undefined })],
  typ: ['another typ', header({ typ: 'JWT' })],
  crit: ['an empty crit', signed({ form: 'body', header: { crit: [] } })],
  b64: ['b64 that crit does not name', header({ crit: ['sigD'] })],
  sigD: ['a sigD that names other headers', sigD({ pars: ['date'] })],
  x5c: [
    'certificates that do not form a chain',
    signed(({ identity, keys }) => ({ header: { x5c: [identity.x5c[0], keys.suppliers.ownRoot.x5c[1]] } })),
  ],
  x5t: ['the thumbprint of another certificate', header({ 'x5t#S256': 'RBNvo1WzZ4oRRq0W9-hknpT7T8If536DEMBg9hyq_4o' })],
  holds: [
    'a modified header',
    changed((all) => {
      const [encoded = '', , signature] = all[SIGNATURE].split('.');
      const text = Buffer.from(encoded, 'base64url').toString().replace('{', '{"x":1,');
      return { ...all, [SIGNATURE]: `${Buffer.from(text).toString('base64url')}..${signature}` };
    }),
  ],
  time: ['no time', header({ iat: undefined })],
  'time-holds': ['a time in the future', signed(() => ({ header: { iat: Math.floor(Date.now() / 1000) + 7200 } }))],
  anchor: ['another root with the same names', signed(({ keys }) => ({ identity: keys.suppliers.ownRoot }))],
  validity: [
    'an expired certificate',
    leaf((base) => ({
      ...base,
      notBefore: new Date(Date.now() - 9 * DAY_MS),
      notAfter: new Date(Date.now() - DAY_MS),
    })),
  ],
  usage: [
    'a certificate that may not sign',
    leaf((base) => ({ ...base, extensions: [basicConstraints(false), keyUsage(['keyEncipherment'])] })),
  ],
  strength: ['a key of 1024 bits', leaf((base) => base, weak)],
  oin: ['a certificate without an OIN', leaf((base) => ({ ...base, oin: 'geen' }))],
  revoked: ['a revoked certificate', signed(({ keys }) => ({ identity: keys.suppliers.revoked }))],
  status: ['a certificate without a status address', leaf(({ ocspUrl: _, crlUrl: __, ...base }) => base)],
};

/** Mutants for the cases that test signature rules, recognised by the rules' titles. */
export function ruleMutants<Mutation>(
  chapters: readonly { readonly cases: readonly CaseDescription[] }[],
  mutate: (make: Make) => Mutation,
): readonly Mutant<Mutation>[] {
  const names = new Map(Object.entries(RULES).map(([name, { en }]) => [en, name]));
  const faults = new Map(Object.entries(SIGNATURE_FAULTS));
  return chapters
    .flatMap(({ cases }) => cases)
    .flatMap(({ id, title }) => {
      const [what, make] = faults.get(names.get(title.en) ?? '') ?? [];
      return what === undefined || make === undefined ? [] : [{ kills: id, what, mutation: mutate(make) }];
    });
}
