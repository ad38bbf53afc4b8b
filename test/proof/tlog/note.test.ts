/** Notes, checkpoints, proofs and policies as C2SP defines them, and as Go's `note` reads and writes them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { leafHash, proveInclusion } from '../../../src/proof/tlog/merkle.ts';
import {
  createSigner,
  FormatError,
  formatCheckpoint,
  formatNote,
  LOG_KEY,
  openNote,
  parseCheckpoint,
  parseVerifierKey,
  splitNote,
  WITNESS_KEY,
} from '../../../src/proof/tlog/note.ts';
import { parsePolicy } from '../../../src/proof/tlog/policy.ts';
import { formatProof, parseProof, verifyProof } from '../../../src/proof/tlog/proof-file.ts';
import { entry, growTree } from './grown-tree.ts';
import { askGo, hasGo, recorded, WITHOUT_GO } from './judge.ts';

const ORIGIN = 'example.com/proof/v1/test';
const log = createSigner(ORIGIN, Buffer.alloc(32, 1));
const witnesses = [2, 3, 4].map((byte) => createSigner(`w${byte}.example`, Buffer.alloc(32, byte), WITNESS_KEY));
const TIME = 1_679_315_147;

describe(`notes${WITHOUT_GO}`, () => {
  it("are signed as Go signs them, by keys in Go's notation", () => {
    const { question, answer } = recorded();
    const asked = hasGo ? askGo(question) : answer;
    for (const [name, seed] of Object.entries(question.seeds ?? {})) {
      const signer = createSigner(name, Buffer.from(seed, 'hex'));
      expect(signer.key.text).toBe(asked.keys[name]);
      for (const [place, text] of (question.sign ?? []).entries()) {
        expect(formatNote(text, [signer.sign(text)])).toBe(asked.signed[place]?.[name]);
      }
    }
  });

  it.runIf(hasGo)('of ours are accepted by Go, even with signatures that it does not know', () => {
    const texts = ['a\n', 'é\n\nb\n'];
    const open = texts.map((text) => ({
      key: log.key.text,
      note: formatNote(text, [...witnesses.map((w) => w.sign(text, TIME)), log.sign(text)]),
    }));
    expect(askGo({ size: 0, open }).opened).toEqual(texts);
  });

  it('match the examples of signed-note and of tlog-cosignature', () => {
    const key = parseVerifierKey('example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k');
    const note =
      'This is an example message.\n\n\u2014 example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n';
    expect(openNote(note, [key]).text).toBe('This is an example message.\n');
    expect(() => openNote(note.replace('example m', 'other m'), [key])).toThrow('does not verify');
    expect(() => openNote(note, [log.key])).toThrow('no known key');
  });

  it('carry the time of a cosignature, which is signed too', () => {
    const [witness] = witnesses;
    if (witness === undefined) throw new Error('no witness');
    const text = formatCheckpoint({ origin: ORIGIN, size: 1, root: leafHash(entry(0)) });
    const note = formatNote(text, [witness.sign(text, TIME)]);
    expect(openNote(note, [witness.key]).verified[0]?.time).toBe(TIME);
    const [signature] = splitNote(note).signatures;
    const later = Buffer.concat([Buffer.from(witness.key.id, 'hex'), signature?.signature ?? Buffer.alloc(0)]);
    later.writeBigUInt64BE(BigInt(TIME + 1), 4);
    const changed = formatNote(text, [`\u2014 ${witness.key.name} ${later.toString('base64')}\n`]);
    expect(() => openNote(changed, [witness.key])).toThrow('does not verify');
    // A log's key with the same bytes is another key.
    const sameBytes = createSigner(witness.key.name, Buffer.alloc(32, 2), LOG_KEY);
    expect(() => openNote(note, [sameBytes.key])).toThrow('no known key');
  });

  it.each([
    ['no signature', 'a\n\n'],
    ['no empty line', 'a\n\u2014 b AAAAAAAA\n'],
    ['no end', `a\n\n${log.sign('a\n').trimEnd()}`],
    ['a control character', `a\t\n\n${log.sign('a\t\n')}`],
    ['non-canonical base64', 'a\n\n\u2014 b AAAAAAB=\n'],
    ['half a surrogate', `\ud800\n\n${log.sign('a\n')}`],
    ['too many signatures', `a\n\n${log.sign('a\n').repeat(101)}`],
    ['too many bytes', `${'a'.repeat(300_000)}\n\n${log.sign('a\n')}`],
  ])('are refused with %s', (_what, note) => {
    expect(() => openNote(note, [log.key])).toThrow(FormatError);
  });

  it('have keys with matching ids', () => {
    expect(parseVerifierKey(log.key.text)).toEqual(log.key);
    for (const text of [
      log.key.text.replace(/\+[0-9a-f]{8}\+/, '+00000000+'),
      log.key.text.replace('example', 'exemple'),
      'a+b',
      '',
      `${ORIGIN}+530d903a+AgAA`,
      log.key.text.slice(0, -2),
    ]) {
      expect(() => parseVerifierKey(text)).toThrow(FormatError);
    }
    expect(() => createSigner('a b', Buffer.alloc(32))).toThrow(TypeError);
    expect(() => createSigner('a', Buffer.alloc(31))).toThrow(TypeError);
  });
});

describe('checkpoints', () => {
  it('survive a round trip, and have one spelling', () => {
    fc.assert(
      fc.property(fc.nat(), fc.uint8Array({ minLength: 32, maxLength: 32 }), (size, root) => {
        const text = formatCheckpoint({ origin: ORIGIN, size, root });
        expect(formatCheckpoint(parseCheckpoint(text))).toBe(text);
        expect(formatCheckpoint(parseCheckpoint(`${text}an extension\n`))).toBe(text);
      }),
    );
    const text = formatCheckpoint({ origin: ORIGIN, size: 5, root: leafHash(entry(0)) });
    for (const wrong of [
      text.replace('\n5\n', '\n05\n'),
      text.replace('\n5\n', '\n-5\n'),
      text.replace('\n5\n', '\n9007199254740993\n'),
      text.replace('\n5\n', '\n5\n\n'),
      text.replace('=\n', '\n'),
      text.trimEnd(),
      `\n${text}`,
      `${text}\n`,
    ]) {
      expect(() => parseCheckpoint(wrong)).toThrow(FormatError);
    }
  });
});

const LINES = (quorum: string): string =>
  [
    '# witnesses and groups \u00e9',
    `log ${log.key.text}`,
    '',
    ...witnesses.map((w, place) => ` witness W${place} ${w.key.text}\thttps://w${place}.example/witness`),
    'group two 2 W0 W1 W2',
    `quorum ${quorum}`,
    '',
  ].join('\n');

describe('policies', () => {
  const cosigners = witnesses.map(({ key }) => key);
  it('count witnesses and groups', () => {
    const policy = parsePolicy(LINES('two'));
    expect(policy.witnesses.map(({ name, url }) => `${name} ${url}`)).toContain('W1 https://w1.example/witness');
    expect(policy.isQuorum(cosigners)).toBe(true);
    expect(policy.isQuorum(cosigners.slice(1))).toBe(true);
    expect(policy.isQuorum(cosigners.slice(2))).toBe(false);
    expect(policy.isQuorum([])).toBe(false);
    expect(parsePolicy(LINES('none')).isQuorum([])).toBe(true);
    expect(parsePolicy(LINES('W2')).isQuorum(cosigners.slice(0, 2))).toBe(false);
  });

  const [first = ''] = cosigners.map(({ text }) => text);
  it.each([
    ['quorum two', 'line 1: "two" is not defined above'],
    [`witness a ${first}\nwitness b ${first}\nquorum a`, 'line 2: the same public key occurs twice'],
    [`witness a ${first}\ngroup a any a\nquorum a`, 'line 2: the name "a" is taken'],
    [`witness a ${first}\ngroup g 2 a\nquorum g`, 'line 2: a group of 1 needs all, any, or 1 to 1'],
    [`witness a ${first}\ngroup g any a\ngroup h any a\nquorum h`, 'line 3: "a" is in a group already'],
    [`witness a ${first}\ngroup g any none\nquorum g`, 'line 2: "none" is not defined above'],
    [`log ${first}\nquorum none`, 'line 1: a log has a key of type 1'],
    ['quorum none\nquorum none', 'line 2: there is a second quorum line'],
    ['quorum none\r\n', 'line 1: a character that no policy may have'],
    ['constructor a\nquorum none', 'line 1: "constructor" is not one of log, witness, group and quorum'],
    ['# nothing', 'the policy has no quorum line'],
  ])('name the invalid line: %s', (text, message) => {
    expect(() => parsePolicy(text)).toThrow(message);
  });
});

describe('proofs', () => {
  const made = growTree(300).then(async (tree) => {
    const root = tree.roots[300] ?? Buffer.alloc(0);
    const text = formatCheckpoint({ origin: ORIGIN, size: 300, root });
    const checkpoint = formatNote(text, [log.sign(text), ...witnesses.slice(0, 2).map((w) => w.sign(text, TIME))]);
    return { extra: Buffer.from('{}'), index: 77, hashes: await proveInclusion(77, 300, tree.read), checkpoint };
  });

  it('survive a round trip, and prove one entry', async () => {
    const proof = await made;
    expect(parseProof(formatProof(proof))).toEqual(proof);
    expect(parseProof(formatProof({ ...proof, extra: undefined })).extra).toBeUndefined();
    const keys = [log, ...witnesses.slice(0, 2)].map(({ key }) => key);
    expect(verifyProof(proof, entry(77), keys)).toMatchObject({
      checkpoint: { size: 300 },
      cosignatures: [{ time: TIME }, { time: TIME }],
    });
    expect(() => verifyProof(proof, entry(78), keys)).toThrow(/entry/);
    expect(() => verifyProof({ ...proof, index: 78 }, entry(77), keys)).toThrow(/entry/);
  });

  it('are refused for another log, or without the cosignature of a required witness', async () => {
    const proof = await made;
    const other = createSigner('example.com/proof/v1/other', Buffer.alloc(32, 1));
    expect(() => verifyProof(proof, entry(77), [other.key])).toThrow(/another log/);
    const impostor = createSigner(ORIGIN, Buffer.alloc(32, 9));
    expect(() => verifyProof(proof, entry(77), [impostor.key])).toThrow(/no known key/);
    const all = [log, ...witnesses].map(({ key }) => key);
    expect(() => verifyProof(proof, entry(77), all)).toThrow(/w4.example did not cosign/);
    // A line in a witness's name over another text.
    const lie = witnesses.at(-1)?.sign('example.com/else\n1\n\n', TIME) ?? '';
    const lied = { ...proof, checkpoint: `${proof.checkpoint}${lie}` };
    expect(() => verifyProof(lied, entry(77), all)).toThrow(/does not verify/);
  });

  it.each([
    [/^c2sp.*\n/, ''],
    [/@v1/, '@v2'],
    [/index 77/, 'index 077'],
    [/extra .*/, 'extra e30'],
    [/\n\n/, '\n'],
    [/index 77\n/, 'index 77\nAAAA\n'],
    [/index 77\n/, ''],
  ])('are refused in any other spelling: %s', async (from, to) => {
    const text = formatProof(await made);
    expect(() => parseProof(text.replace(from, to))).toThrow(FormatError);
  });
});
