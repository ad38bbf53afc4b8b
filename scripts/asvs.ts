/**
 * Reads docs/compliance/asvs.md: the project's answer to each requirement of the OWASP ASVS, and the tests that it
 * cites.
 */

/**
 * @param text the page in Markdown
 * @returns each section: its heading as `state` (`Open`, `Operator`, `Not applicable`, `Met`), the number in it, and its
 * requirements with the paths of their tests, from the root of the repository
 */
export function readAsvs(text: string) {
  return text.split(/^## /m).flatMap((section) => {
    const [, state, counted] = /^([\w ]+) \((\d+)\)\n/.exec(section) ?? [];
    return state === undefined ? [] : [{ state, counted: Number(counted), requirements: requirementsOf(section) }];
  });
}

/** Requirements with the same answer share an item, as in `1.2.6–8, 1.3.1`. */
function requirementsOf(section: string) {
  return [...section.matchAll(/^- ([\d.–, ]+): (.+(?:\n {2}.+)*)/gm)].flatMap(([, numbers = '', lines = '']) => {
    const answer = lines.replace(/\s+/g, ' ');
    const tests = [...answer.matchAll(/`(test\/[\w./-]+)`/g)].map(([, path]) => String(path));
    return numbers.split(', ').flatMap((item) => {
      const [, chapter = '', first = '', last = first] = /^(\d+\.\d+\.)(\d+)(?:–(\d+))?$/.exec(item) ?? [];
      const count = Number(last) - Number(first) + 1;
      return Array.from({ length: count }, (_, i) => ({ number: `${chapter}${Number(first) + i}`, answer, tests }));
    });
  });
}
