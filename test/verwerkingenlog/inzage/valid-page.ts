/** Requirements on every page: valid, accessible, and never stored. */
import { expect } from 'vitest';
import { htmlFaults } from '../../support/html.ts';
import type { Browser, Page } from './support.ts';

/** A page that is valid and must not be stored. */
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
  expect(await htmlFaults(page.text), path).toEqual([]);
  return page;
}
