/** The shared parts of pages for people: no outside text becomes markup. */

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readBrand } from '../../src/html/brand.ts';
import { fileSize } from '../../src/html/format.ts';
import { renderPage } from '../../src/html/page.ts';
import { html, inPieces, safeUrl, shorten, trusted, withinBytes } from '../../src/lib/template.ts';
import { dutchDay } from '../../src/lib/time.ts';
import { readConfig } from '../../src/settings/read-config.ts';

const HOSTILE = `<script>alert("1")</script>' onload=x & \u0000\u202e`;

it('escapes every value that no template produced', () => {
  const inner = html`<b title="${HOSTILE}">${HOSTILE}</b>`;
  expect(String(inner)).toBe(
    '<b title="&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#39; onload=x &amp; ">&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#39; onload=x &amp; </b>',
  );
  expect(String(html`<p>${[inner, undefined, null, false, 0, trusted('<br>')]}</p>`)).toBe(
    `<p>${inner.markup}0<br></p>`,
  );
});

it('replaces half a character, which no encoding can represent', () => {
  expect(String(html`${'a\ud800b'}`)).toBe('a\ufffdb');
  expect(shorten(`${'a'.repeat(8)}😀😀`, 10).isWellFormed()).toBe(true);
});

/** One visible character, even if it has many code points. */
const characters = fc
  .array(fc.constantFrom('a', ' ', 'é', 'e\u0301', '😀', '👩‍👩‍👧', '🇳🇱', '\n', '. ', '漢'))
  .map((list) => list.join(''));
const graphemes = (text: string): string[] =>
  [...new Intl.Segmenter('nl', { granularity: 'grapheme' }).segment(text)].map(({ segment }) => segment);

it('shortens a text without cutting a character in two', () => {
  fc.assert(
    fc.property(characters, fc.integer({ min: 2, max: 60 }), (text, length) => {
      const short = shorten(text, length);
      expect(short.length).toBeLessThanOrEqual(length);
      const whole = graphemes(text);
      const kept = graphemes(short.replace(/…$/, ''));
      expect(short === text || kept.every((one, i) => one === whole[i])).toBe(true);
    }),
  );
  // An endless character is cut, without leaving a lone surrogate.
  expect(shorten(`a${'\u0301'.repeat(200)}`, 100)).toHaveLength(100);
  expect(shorten('\u{1d165}'.repeat(200), 100).isWellFormed()).toBe(true);
});

it('divides a text into pieces that together are the text, none of them ending within a character', () => {
  fc.assert(
    fc.property(fc.array(characters, { maxLength: 40 }), fc.integer({ min: 100, max: 300 }), (texts, length) => {
      const text = texts.join('');
      const pieces = inPieces(text, length);
      expect(pieces.join('')).toBe(text);
      for (const piece of pieces) expect(piece.length).toBeLessThanOrEqual(length);
      expect(pieces.flatMap(graphemes)).toEqual(graphemes(text));
    }),
  );
  expect(inPieces('', 100)).toEqual([]);
  expect(inPieces(`${'woord '.repeat(30)}einde`, 100).map((piece) => piece.trim().split(' ').at(-1))).toEqual([
    'woord',
    'einde',
  ]);
});

it.each([
  'javascript:alert(1)',
  'JAVASCRIPT:alert(1)',
  'data:text/html,x',
  ' https://x',
  'https://',
  'vbscript:x',
  '',
  'https://www.gemeente.example@elders.example/',
  'https://gebruiker:geheim@raad.example/',
  'https://:geheim@raad.example/',
  'http:\\\\raad.example\t@elders.example/',
])('makes no link of %j', (address) => expect(safeUrl(address)).toBeUndefined());

it('makes links of the addresses of files and pages', () => {
  expect(safeUrl('https://raad.example/a?b=c')).toBe('https://raad.example/a?b=c');
});

it('does not let a text in JSON-LD close its script', () => {
  const site = {
    name: 'Raad',
    home: '/raad',
    stylesheet: '/raad/s.css',
    menu: [],
    footer: html``,
    brand: readBrand(readConfig({ NODE_ENV: 'test' }, 'tool')),
  };
  const page = renderPage(site, {
    title: HOSTILE,
    description: HOSTILE,
    body: '',
    structuredData: { name: '</script><b>' },
  });
  expect(page).not.toContain('</script><b>');
  expect(page).toContain(String.raw`{"name":"\u003c/script\u003e\u003cb\u003e"}`);
  expect(page).not.toContain('<script>alert');
});

it('cuts lists by their bytes and says how many are left', () => {
  const items = ['a', 'b', 'c'].map((text) => html`<li>${text}</li>`);
  expect(withinBytes(items, 20)).toEqual({ items: items.slice(0, 2), rest: 1 });
  expect(withinBytes(items, 1000).rest).toBe(0);
});

it('writes sizes and dates in the Dutch style', () => {
  expect(fileSize(999)).toBe('999\u00a0bytes');
  expect(fileSize(1_234_567)).toBe('1,2\u00a0MB');
  expect(dutchDay(new Date('2018-02-08T23:30:00Z'))).toBe('2018-02-09');
});
