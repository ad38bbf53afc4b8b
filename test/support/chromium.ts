/** Chromium and axe-core for page tests. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { findChromium, launchChromium } from '../../scripts/chromium.ts';

let shared: Promise<Browser> | undefined;

/** Shared by all test files of this process and closed with it: a file closes the contexts that it opens, not the browser. */
export function sharedChromium(): Promise<Browser> {
  shared ??= launchChromium(findChromium() ?? '');
  return shared;
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const STANDARDS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const COLOURS = ['color-contrast', 'link-in-text-block'];

/**
 * One representative of each kind of element with text or a field: the same chain of elements and classes up to the body, the same colours.
 * Any colour fault of another applies to this one too, and axe spends most of its time on colours.
 */
const KINDS = `((known) => [...document.body.querySelectorAll('*')].filter((element) => {
  const hasText = [...element.childNodes].some(({ nodeType, data }) => nodeType === Node.TEXT_NODE && data.trim() !== '');
  if (!hasText && !element.matches('input, select, textarea')) return false;
  let kind = '';
  for (let at = element; at !== document.body; at = at.parentElement) {
    const { color, backgroundColor } = getComputedStyle(at);
    kind += [at.localName, at.className, color, backgroundColor, ''].join();
  }
  return !known.has(kind) && known.add(kind);
}))(new Set())`;

/**
 * Axe's findings on a page: all rules on the whole page, and the colour rules on a representative of each kind, in each scheme. The last
 * scheme stays active.
 */
export async function axeFindings(page: Page, schemes: readonly ('light' | 'dark')[] = ['light']): Promise<unknown[]> {
  const run = (context: string, options: object): Promise<unknown[]> =>
    page.evaluate(
      `axe.run(${context}, ${JSON.stringify({ ...options, resultTypes: ['violations'] })}).then(({ violations }) =>
        violations.map(({ id, nodes }) => id + ' ' + nodes.map(({ html }) => html).join(' ').slice(0, 400)))`,
    );
  // By the browser itself, outside the page's policy.
  await page.evaluate(AXE);
  const rules = Object.fromEntries(COLOURS.map((rule) => [rule, { enabled: false }]));
  const found = await run('document', { runOnly: STANDARDS, rules });
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme });
    const faults = await run(`{ include: ${KINDS} }`, { runOnly: COLOURS });
    found.push(...faults.map((fault) => `${colorScheme}: ${fault}`));
  }
  return found;
}
