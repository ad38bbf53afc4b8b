/**
 * Reads docs/compliance/asvs.md: the project's answer to each requirement of the OWASP ASVS, and the tests that it
 * cites.
 */

export interface AsvsSection {
  /** The heading of its section: `Open`, `Operator`, `Not applicable`, `Met`. */
  readonly state: string;
  /** The number in its heading. */
  readonly counted: number;
  readonly requirements: readonly AsvsRequirement[];
}

export interface AsvsRequirement {
  readonly number: string;
  readonly answer: string;
  /** Test files, from the root of the repository. */
  readonly tests: readonly string[];
}

/** @param text the page in Markdown */
export function readAsvs(text: string): AsvsSection[] {
  return text.split(/^## /m).flatMap((section) => {
    const [, state, counted] = /^([\w ]+) \((\d+)\)\n/.exec(section) ?? [];
    return state === undefined ? [] : [{ state, counted: Number(counted), requirements: requirementsOf(section) }];
  });
}

/** Requirements with the same answer share an item, as in `1.2.6–8, 1.3.1`. */
function requirementsOf(section: string): AsvsRequirement[] {
  return [...section.matchAll(/^- ([\d.–, ]+): (.+(?:\n {2}.+)*)/gm)].flatMap(([, numbers = '', lines = '']) => {
    const answer = lines.replace(/\s+/g, ' ');
    const tests = [...answer.matchAll(/`(test\/[\w./-]+)`/g)].map(([, path]) => String(path));
    return numbers.split(', ').flatMap((item) => {
      const [, chapter = '', first = '', last = first] = /^(\d+\.\d+\.)(\d+)(?:–(\d+))?$/.exec(item) ?? [];
      const count = Number(last) - Number(first) + 1;
      return Array.from({ length: count }, (_, index) => ({
        number: `${chapter}${Number(first) + index}`,
        answer,
        tests,
      }));
    });
  });
}
