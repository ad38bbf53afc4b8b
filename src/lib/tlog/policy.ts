/** Trust policies (C2SP tlog-policy): which logs are known, which witnesses, and how many of them must have cosigned a checkpoint. */
import {
  type Checkpoint,
  checkpointIn,
  FormatError,
  LOG_KEY,
  openNote,
  parseVerifierKey,
  type VerifiedSignature,
  type VerifierKey,
  WITNESS_KEY,
} from './note.ts';

interface PolicyLog {
  readonly key: VerifierKey;
  readonly url: string | undefined;
}

export interface PolicyWitness extends PolicyLog {
  /** Within the policy. */
  readonly name: string;
}

export interface Policy {
  readonly logs: readonly PolicyLog[];
  readonly witnesses: readonly PolicyWitness[];
  /** Whether these cosigners are enough. */
  isQuorum(cosigners: readonly VerifierKey[]): boolean;
}

/** A policy that cannot be used; the message names the line. */
export class PolicyError extends Error {
  override readonly name = 'PolicyError';
}

/** Most bytes of a policy. */
const MAX_POLICY_BYTES = 256 * 1024;
/** Most logs, witnesses, and groups. tlog-policy asks for 32 of each at least. */
const MOST_OF_EACH = 256;

type Rule = (cosigners: ReadonlySet<string>) => boolean;

/** A policy that trusts one log and asks for no witness. */
export function policyForLog(key: VerifierKey): Policy {
  return { logs: [{ key, url: undefined }], witnesses: [], isQuorum: () => true };
}

/** A checkpoint that a policy takes. */
export interface TrustedCheckpoint {
  readonly checkpoint: Checkpoint;
  /** Of witnesses that the policy knows. */
  readonly cosignatures: readonly VerifiedSignature[];
}

/** A signed checkpoint with the signatures that a policy knows, or why the policy refuses it. Never throws. */
export function openCheckpoint(note: string, policy: Policy): TrustedCheckpoint | { readonly reason: string } {
  try {
    const checkpoint = checkpointIn(note);
    // The name of a log's key is its origin, so a key speaks for its own log only.
    const logKeys = policy.logs.map(({ key }) => key).filter(({ name }) => name === checkpoint.origin);
    if (logKeys.length === 0) return { reason: 'the checkpoint is of another log than the key' };
    const logSigned = openNote(note, logKeys);
    const all = openNote(note, [...logKeys, ...policy.witnesses.map(({ key }) => key)]);
    const cosignatures = all.verified.filter(({ key }) => !logSigned.verified.some((log) => log.key === key));
    if (!policy.isQuorum(cosignatures.map(({ key }) => key)))
      return { reason: 'too few witnesses cosigned the checkpoint' };
    return { checkpoint, cosignatures };
  } catch (error) {
    if (error instanceof FormatError) return { reason: error.message };
    throw error;
  }
}

/**
 * Reads a policy.
 * @throws {PolicyError} with the number of the first line that is wrong
 */
export function parsePolicy(octets: Uint8Array): Policy {
  if (octets.length > MAX_POLICY_BYTES) throw new PolicyError(`a policy has at most ${MAX_POLICY_BYTES} bytes`);
  const logs: PolicyLog[] = [];
  const witnesses: PolicyWitness[] = [];
  const rules = new Map<string, Rule>();
  let groups = 0;
  let quorum: Rule | undefined;

  const define = (name: string, rule: Rule): void => {
    if (name === 'none' || rules.has(name)) throw new FormatError(`the name ${shown(name)} is taken`);
    rules.set(name, rule);
  };
  const ruleOf = (name: string): Rule => {
    const rule = rules.get(name);
    if (rule === undefined) throw new FormatError(`${shown(name)} is not defined above`);
    return rule;
  };
  const readers: Readonly<Record<string, (words: readonly string[]) => void>> = {
    log(words) {
      expectWords(words, 1, 2, 'log <vkey> [<url>]');
      logs.push(keyWithUrl(words, LOG_KEY, logs));
    },
    witness([name = '', ...words]) {
      expectWords(words, 1, 2, 'witness <name> <vkey> [<url>]');
      const witness = { name, ...keyWithUrl(words, WITNESS_KEY, witnesses) };
      define(name, (cosigners) => cosigners.has(witness.key.text));
      witnesses.push(witness);
    },
    group([name = '', count = '', ...members]) {
      groups += 1;
      if (members.length === 0) throw new FormatError('group <name> all|any|<k> <name>...');
      if (groups > MOST_OF_EACH) throw new FormatError('too many groups');
      if (new Set(members).size < members.length) throw new FormatError('a group names a member twice');
      for (const member of members)
        if (grouped.has(member)) throw new FormatError(`${shown(member)} is in a group already`);
      const parts = members.map(ruleOf);
      const needed = threshold(count, members.length);
      define(name, (cosigners) => parts.filter((part) => part(cosigners)).length >= needed);
      for (const member of members) grouped.add(member);
    },
    quorum(words) {
      expectWords(words, 1, 1, 'quorum <name>');
      if (quorum !== undefined) throw new FormatError('there is a second quorum line');
      quorum = words[0] === 'none' ? () => true : ruleOf(words[0] ?? '');
    },
  };
  // Each name is a member of one group at most, so that each witness counts in one way only.
  const grouped = new Set<string>();

  for (const [place, line] of Buffer.from(octets).toString('latin1').split('\n').entries()) {
    try {
      if (/[^\t\x20-\x7e\x80-\xff]/.test(line)) throw new FormatError('a character that no policy may have');
      const [keyword = '', ...words] = line.split(/[ \t]+/).filter((word) => word !== '');
      if (keyword === '' || keyword.startsWith('#')) continue;
      const reader = Object.hasOwn(readers, keyword) ? readers[keyword] : undefined;
      if (reader === undefined) throw new FormatError(`${shown(keyword)} is not one of log, witness, group and quorum`);
      reader(words);
    } catch (error) {
      if (error instanceof FormatError) throw new PolicyError(`line ${place + 1}: ${error.message}`);
      throw error;
    }
  }
  if (quorum === undefined) throw new PolicyError('the policy has no quorum line');
  const rule = quorum;
  return { logs, witnesses, isQuorum: (cosigners) => rule(new Set(cosigners.map(({ text }) => text))) };
}

function expectWords(words: readonly string[], least: number, most: number, form: string): void {
  if (words.length < least || words.length > most) throw new FormatError(form);
}

/** The key and address of a log or witness; refuses a public key that the policy has already. */
function keyWithUrl(words: readonly string[], type: VerifierKey['type'], others: readonly PolicyLog[]): PolicyLog {
  // Octets over 0x7f are opaque in a policy, but a key's name is UTF-8 wherever it is signed.
  const [vkey = '', url] = words.map((word) => Buffer.from(word, 'latin1').toString('utf8'));
  const key = parseVerifierKey(vkey);
  if (key.type !== type) throw new FormatError(`a ${type === LOG_KEY ? 'log' : 'witness'} has a key of type ${type}`);
  if (others.length >= MOST_OF_EACH) throw new FormatError(`there are more than ${MOST_OF_EACH}`);
  if (others.some((other) => Buffer.compare(other.key.publicKey, key.publicKey) === 0)) {
    throw new FormatError('the same public key is there twice');
  }
  return { key, url };
}

function threshold(text: string, members: number): number {
  if (text === 'any') return 1;
  if (text === 'all') return members;
  const count = /^[1-9][0-9]{0,3}$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > members) throw new FormatError(`a group of ${members} needs all, any, or 1 to ${members}`);
  return count;
}

/** A name of the file for a message: what is not ASCII is opaque. */
function shown(name: string): string {
  return `"${name.slice(0, 80).replace(/[^\x20-\x7e]/g, '?')}"`;
}
