/** Witness policies (C2SP tlog-policy): the witnesses, and the required number of cosignatures. */
import { FormatError, LOG_KEY, parseVerifierKey, type VerifierKey, WITNESS_KEY } from './note.ts';

export interface PolicyWitness {
  readonly name: string;
  readonly key: VerifierKey;
  readonly url: string | undefined;
}

export interface Policy {
  readonly witnesses: readonly PolicyWitness[];
  isQuorum(cosigners: readonly VerifierKey[]): boolean;
}

type Rule = (cosigners: ReadonlySet<string>) => boolean;

/** Reads a policy. Its `log` lines are checked and otherwise ignored. @throws {FormatError} with the number of the first wrong line */
export function parsePolicy(text: string): Policy {
  const logs: VerifierKey[] = [];
  const witnesses: PolicyWitness[] = [];
  const rules = new Map<string, Rule>();
  // Each name is a member of at most one group, so that each witness counts once.
  const grouped = new Set<string>();
  let quorum: Rule | undefined;

  const define = (name: string, rule: Rule): void => {
    if (name === 'none' || rules.has(name)) throw new FormatError(`the name "${name}" is taken`);
    rules.set(name, rule);
  };
  const ruleOf = (name: string): Rule => {
    const rule = rules.get(name);
    if (rule === undefined) throw new FormatError(`"${name}" is not defined above`);
    return rule;
  };
  const readers: Readonly<Record<string, (words: readonly string[]) => void>> = {
    log(words) {
      expectWords(words, 1, 2, 'log <vkey> [<url>]');
      logs.push(readKey(words[0], LOG_KEY, logs));
    },
    witness(words) {
      expectWords(words, 2, 3, 'witness <name> <vkey> [<url>]');
      const [name = '', vkey, url] = words;
      const others = witnesses.map(({ key }) => key);
      const witness = { name, key: readKey(vkey, WITNESS_KEY, others), url };
      define(name, (cosigners) => cosigners.has(witness.key.text));
      witnesses.push(witness);
    },
    group([name = '', count = '', ...members]) {
      if (members.length === 0) throw new FormatError('group <name> all|any|<k> <name>...');
      const parts = members.map(ruleOf);
      for (const member of members) {
        if (grouped.has(member)) throw new FormatError(`"${member}" is in a group already`);
        grouped.add(member);
      }
      const needed = threshold(count, members.length);
      define(name, (cosigners) => parts.filter((part) => part(cosigners)).length >= needed);
    },
    quorum(words) {
      expectWords(words, 1, 1, 'quorum <name>');
      if (quorum !== undefined) throw new FormatError('there is a second quorum line');
      quorum = words[0] === 'none' ? () => true : ruleOf(words[0] ?? '');
    },
  };

  for (const [place, line] of text.split('\n').entries()) {
    try {
      if (/[^\t\P{Cc}]/u.test(line)) throw new FormatError('a character that no policy may have');
      const [keyword = '', ...words] = line.split(/[ \t]+/).filter((word) => word !== '');
      if (keyword === '' || keyword.startsWith('#')) continue;
      const reader = Object.hasOwn(readers, keyword) ? readers[keyword] : undefined;
      if (reader === undefined) throw new FormatError(`"${keyword}" is not one of log, witness, group and quorum`);
      reader(words);
    } catch (error) {
      if (error instanceof FormatError) throw new FormatError(`line ${place + 1}: ${error.message}`);
      throw error;
    }
  }
  if (quorum === undefined) throw new FormatError('the policy has no quorum line');
  const rule = quorum;
  return { witnesses, isQuorum: (cosigners) => rule(new Set(cosigners.map((key) => key.text))) };
}

function expectWords(words: readonly string[], least: number, most: number, form: string): void {
  if (words.length < least || words.length > most) throw new FormatError(form);
}

/** Refuses a public key that is already in the policy. */
function readKey(vkey = '', type: VerifierKey['type'], others: readonly VerifierKey[]): VerifierKey {
  const key = parseVerifierKey(vkey);
  if (key.type !== type) throw new FormatError(`a ${type === LOG_KEY ? 'log' : 'witness'} has a key of type ${type}`);
  if (others.some(({ publicKey }) => Buffer.compare(publicKey, key.publicKey) === 0))
    throw new FormatError('the same public key occurs twice');
  return key;
}

function threshold(text: string, members: number): number {
  if (text === 'any') return 1;
  if (text === 'all') return members;
  const count = /^[1-9][0-9]{0,3}$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > members) throw new FormatError(`a group of ${members} needs all, any, or 1 to ${members}`);
  return count;
}
