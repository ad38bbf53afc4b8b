/** Pages as everybody must get them: valid, accessible, and kept by nobody. */
import { HtmlValidate } from 'html-validate';
import { expect } from 'vitest';
import type { Browser, Page } from './support.ts';

const validator = new HtmlValidate({
  extends: ['html-validate:recommended', 'html-validate:a11y'],
  rules: { 'no-trailing-whitespace': 'off', 'long-title': 'off', 'require-sri': 'off' },
});

/** A page that is valid, and that nobody keeps. */
export async function readPage(browser: Browser, path: string, status = 200): Promise<Page> {
  const page = await browser.open(path);
  expect(page.status, page.text).toBe(status);
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(page.headers.get('cache-control')).toBe('no-store');
  expect(page.headers.get('x-accel-buffering')).toBe('no');
  expect(page.headers.get('referrer-policy')).toBe('no-referrer');
  const policy = page.headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/script-src|unsafe/);
  const { results } = await validator.validateString(page.text);
  const faults = results.flatMap(({ messages }) =>
    messages.map(({ ruleId, message, line }) => `${line} ${ruleId} ${message}`),
  );
  expect(faults, path).toEqual([]);
  return page;
}
